#include "app/gui/core/copy_as_command.h"

#include <algorithm>
#include <string>

#include "analysis/query/block_find.h"
#include "app/gui/core/piece_text.h"

namespace hbmscope::gui {
namespace {

bool is_plain(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
         (character >= '0' && character <= '9') ||
         std::string_view("_-./=,:@%+").find(character) != std::string_view::npos;
}

class CommandLine {
 public:
  explicit CommandLine(std::string_view words) : text_(words) {}
  void add(std::string_view argument) { text_ += " " + shell_quote(argument); }
  void add_option(std::string_view name, std::string_view value) {
    if (value.empty()) return;
    text_ += " " + std::string(name);
    add(value);
  }
  void add_flag(std::string_view name, bool given) {
    if (given) text_ += " " + std::string(name);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_filters(CommandLine& line, const ViewRequest& request) {
  line.add_option("--where", request.where);
  line.add_option("--focus", request.focus);
  line.add_option("--ignore", request.ignore);
  line.add_option("--hide", request.hide);
  line.add_option("--show", request.show);
  line.add_flag("--keep-dropped-frames", request.keep_dropped_frames);
}

// Where another heap was chosen than the one that is shown anyway; empty: none.
std::string heap_name(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || !source->trace) return {};
  const HeapKey shown = choose_heap(*source->trace, state.position().heap);
  if (shown == choose_heap(*source->trace, {})) return {};
  for (const NamedHeap& heap : heaps_of(*source->trace))
    if (heap.key == shown) return heap.name;
  return {};
}

void add_changes(CommandLine& line, std::string_view option, const Source& source) {
  for (const WorkloadChange& change : source.what_if) line.add_option(option, text_from_workload_change(change));
}

// What the right side shows.
SourceId beside_id(const AppState& state) {
  return state.is_split() ? state.contexts[1].position.source : SourceId::none;
}

}  // namespace

std::string shell_quote(std::string_view text) {
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string quoted = "'";
  for (const char character : text) {
    if (character == '\'')
      quoted += "'\\''";
    else
      quoted += character;
  }
  return quoted + "'";
}

std::string where_quote(std::string_view text) {
  const auto plain = [](char character) { return is_plain(character) && character != '=' && character != ':'; };
  if (!text.empty() && text.front() != '/' && text.front() != '-' && std::all_of(text.begin(), text.end(), plain))
    return std::string(text);
  if (text.find('"') == std::string_view::npos) return '"' + std::string(text) + '"';
  if (text.find('\'') == std::string_view::npos) return '\'' + std::string(text) + '\'';
  // The language has no escapes: a text with both quotes is written as a regular expression for itself.
  std::string pattern = "/";
  constexpr std::string_view digits = "0123456789abcdef";
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (is_plain(character) || byte >= 0x80) {
      pattern += character == '/' || character == '.' || character == '+'
                     ? std::string("\\x") + digits[byte >> 4] + digits[byte & 15]
                     : std::string(1, character);
    } else {
      pattern += std::string("\\x") + digits[byte >> 4] + digits[byte & 15];
    }
  }
  return pattern + "/";
}

std::string open_command(const AppState& state) {
  const ViewPosition &position = state.position(), &left = state.contexts[0].position;
  CommandLine line("hbmscope open");
  // The file in front comes last, as opening leaves the last one in front.
  for (const Source& source : state.sources)
    if (source.id != left.source && source.id != position.baseline && source.id != beside_id(state))
      line.add(source.path);
  if (const Source* source = state.find_source(left.source)) {
    line.add(source->path);
    add_changes(line, "--what-if", *source);
  }
  if (state.is_split()) {
    const Source* beside = state.find_source(beside_id(state));
    if (beside != nullptr) {
      line.add_option("--compare-with", beside->path);
      add_changes(line, "--compare-what-if", *beside);
    }
    const ViewPosition& right = state.contexts[1].position;
    line.add_option("--compare-at", right.at.text());
    line.add_option("--compare-pin", right.pin.text());
    const ContextScope scope(state, 1);
    line.add_option("--compare-heap", heap_name(state));
    if (state.lock) line.add_option("--lock", text_from_same_moment(*state.lock));
  }
  if (const Source* baseline = state.baseline()) line.add_option("--baseline", baseline->path);
  line.add_option("--view", name_of(position.view).key);
  if (!position.heap.empty() && !position.address) line.add_option("--heap", heap_name(state));
  line.add_option("--from", left.range.from.text());
  line.add_option("--at", (left.range.empty() ? left.at : left.range.to).text());
  line.add_option("--pin", left.pin.text());
  line.add_option("--rows", position.by_region ? "region" : "");
  const HeapColoring plain = left.pin.empty() ? HeapColoring::automatic : HeapColoring::change;
  if (left.coloring != plain) line.add_option("--color", text_from_coloring(left.coloring));
  line.add_option("--where", position.request.where);
  line.add_option("--find", position.blocks.where);
  if (position.address)
    line.add_option("--select", (position.heap.empty() ? "" : text_from_heap_key(position.heap) + "/") +
                                    address_text(*position.address));
  else
    line.add_option("--select", position.selection.function);
  line.add_option("--theme", state.settings.theme == Theme::light ? "light" : "");
  return line.take();
}

std::string workload_command(const Source& source) {
  CommandLine line("hbmscope tpu run");
  line.add(source.path);
  add_changes(line, "--what-if", source);
  return line.take();
}

std::string report_command(const AppState& state) {
  const ViewPosition& position = state.position();
  const Source* source = state.source();
  if (source == nullptr) return "hbmscope --help";
  const Source* baseline = state.baseline();
  // Of what is not as written no other command knows.
  if (source->workload && (position.view == ViewKind::tpu || !source->what_if.empty()))
    return workload_command(*source);
  switch (position.view) {
    case ViewKind::diff:
      if (baseline != nullptr) {
        CommandLine line("hbmscope diff");
        line.add(baseline->path);
        line.add(source->path);
        if (source->trace && baseline->trace) {
          const MomentName now_at = position.at.empty() ? MomentName("end") : position.at;
          const MomentName at = baseline_moment_for(now_at);
          line.add_option("--from", at == now_at ? "" : at.text());
          line.add_option("--at", now_at.text());
        }
        add_filters(line, position.request);
        line.add_option("--match", position.match == StackMatch::line ? "line" : "");
        return line.take();
      }
      break;
    case ViewKind::compare: {
      CommandLine line("hbmscope diff");
      line.add(source->path);
      line.add_option("--from", position.pin.text());
      line.add_option("--at", position.at.empty() ? "end" : position.at.text());
      return line.take();
    }
    case ViewKind::import: {
      CommandLine line("hbmscope check");
      line.add(source->path);
      return line.take();
    }
    case ViewKind::flame: {
      CommandLine line("hbmscope export");
      line.add(source->path);
      line.add_option("--to", "svg");
      add_filters(line, position.request);
      return line.take();
    }
    case ViewKind::totals: {
      CommandLine line("hbmscope report");
      for (const Source& one : state.sources)
        if (one.state == AnswerState::ready) line.add(one.path);
      add_filters(line, position.request);
      return line.take();
    }
    case ViewKind::blocks: {
      CommandLine line("hbmscope report");
      line.add(source->path);
      line.add_option("--at", position.at.text());
      line.add_option("--blocks", "0");
      line.add_option("--where", where_of_both(position.request.where, where_from_find(position.blocks.where)));
      if (position.blocks.order != BlockOrder::size)
        line.add_option("--order", text_from_block_order(position.blocks.order));
      line.add_flag("--ascending", position.blocks.is_ascending);
      return line.take();
    }
    default: break;
  }
  CommandLine line("hbmscope report");
  line.add(source->path);
  if (source->trace && position.view == ViewKind::range) {
    line.add_option("--from", position.range.from.text());
    line.add_option("--at", position.range.to.text());
    return line.take();
  }
  if (source->trace) line.add_option("--at", position.at.text());
  line.add_flag("--metrics", source->trace && position.view == ViewKind::sizes);
  if (position.request.by != FrameBy::function) line.add_option("--by", text_from_frame_by(position.request.by));
  add_filters(line, position.request);
  return line.take();
}

}  // namespace hbmscope::gui
