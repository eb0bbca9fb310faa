#include "app/cli/diff_traces.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_blocks.h"
#include "analysis/write/json_trace.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string change_line(const BlockChange& change, std::string_view name) {
  return fmt::format("{}  {:>9}  {}\n", pad_left(delta_text_from_bytes(change.delta_bytes()), 10),
                     text_from_count(static_cast<std::int64_t>(change.count)), name);
}

std::string row_line(const BlockDiffRow& row, const Terminal& terminal) {
  const BlockChanges& changes = row.changes;
  std::string what;
  const auto add = [&](const BlockChange& change, std::string_view name) {
    if (change.count == 0) return;
    what += fmt::format("{}{} {}", what.empty() ? "" : ", ", text_from_count(static_cast<std::int64_t>(change.count)),
                        name);
  };
  add(changes.added, "new");
  add(changes.gone, "gone");
  add(changes.grown, "grown");
  add(changes.shrunk, "shrunk");
  add(changes.moved, "moved");
  std::string where(row.no_line_text());
  if (!row.function.empty() || !row.file.empty())
    where = fmt::format("{}  {}", printable(row.function),
                        terminal.paint(fmt::format("{}:{}", printable(row.file), row.line), Ink::dim));
  return fmt::format("{}  {}  {}\n", pad_left(delta_text_from_bytes(changes.delta_bytes()), 10), pad_right(what, 24),
                     where);
}

std::optional<HeapComparison> compare_chosen_heaps(const Source& baseline, const Source& now, HeapKey b) {
  const HeapKey a = choose_alike(*baseline.trace, *now.trace, b);
  if (a.empty() || b.empty()) return std::nullopt;
  return compare_heaps({*baseline.trace, baseline.states, a, baseline.moment.positions[a.stream]},
                       {*now.trace, now.states, b, now.moment.positions[b.stream]});
}

Json json_from_figure(std::optional<std::int64_t> figure) {
  return figure ? Json(*figure) : Json();
}

Json json_from_heaps(const HeapComparison& heaps) {
  constexpr std::string_view units[] = {"bytes", "count", "hundredths_of_percent"};
  Json json;
  json["baseline"] = heaps.a.label;
  json["now"] = heaps.b.label;
  json["figures"] = Json::array();
  for (const ComparisonRow& row : heaps.rows)
    json["figures"].push_back({{"name", row.name},
                               {"unit", units[static_cast<std::size_t>(row.unit)]},
                               {"baseline", json_from_figure(row.a)},
                               {"now", json_from_figure(row.b)}});
  json["sentences"] = heaps.sentences;  // A is the baseline, B is now.
  return json;
}

}  // namespace

Result<HeapKey> find_compared_heap(const Source& source, const std::string& name) {
  if (source.trace) return name.empty() ? choose_heap(*source.trace, {}) : find_heap(*source.trace, name);
  if (name.empty()) return HeapKey{};
  return Failure(refusal("--heap needs two traces: profiles have no heaps", "Remove --heap."));
}

std::optional<TraceDiff> compute_trace_diff(const Source& baseline, const Source& now, HeapKey heap) {
  if (!baseline.trace || !now.trace) return std::nullopt;
  return TraceDiff{baseline, now, compare_settings(*baseline.trace, *now.trace),
                   *compute_block_diff({*baseline.trace, baseline.states}, {*now.trace, now.states}),
                   compare_chosen_heaps(baseline, now, heap)};
}

Result<Source> load_at_same(const Source& side, const Source& leads, HeapKey heap, SameMoment same,
                            LoadOptions options) {
  if (!side.trace || !leads.trace)
    return Failure(refusal("--same needs two traces: a profile has only one time", "Remove --same."));
  const HeapKey other = choose_alike(*side.trace, *leads.trace, heap);
  if (heap.empty() || other.empty())
    return Failure(refusal("--same compares heaps, and there is none", "Give both times: --from and --at."));
  const auto found =
      find_matching_moment(*leads.trace, heap, leads.moment.positions[heap.stream], *side.trace, other, same);
  options.at = text_from_position(*side.trace, other.stream, found->position);
  auto moved = load_again(side, options);
  if (moved && found->is_short) moved->moment.text += ", where it ends; the other trace continues";
  return moved;
}

std::string text_from_heaps(const TraceDiff& diff, const Terminal& terminal) {
  if (!diff.heaps) return {};
  std::string text = terminal.paint(fmt::format("\nheaps: A = {} (baseline), B = {} (now)",
                                                printable(diff.heaps->a.label), printable(diff.heaps->b.label)),
                                    Ink::dim) +
                     "\n";
  for (const std::string& sentence : diff.heaps->sentences) text += "  " + printable(sentence) + "\n";
  text += terminal.paint(fmt::format("\n{:>12}  {:>12}  {:>14}", "A", "B", "B - A"), Ink::dim) + "\n";
  for (const ComparisonRow& row : diff.heaps->rows)
    text += fmt::format("{}  {}  {}  {}\n", pad_left(text_from_figure(row, row.a), 12),
                        pad_left(text_from_figure(row, row.b), 12), pad_left(text_from_difference(row), 14), row.name);
  return text + "\n";
}

std::string text_before_diff(const TraceDiff& diff, const Terminal& terminal) {
  std::string text =
      fmt::format("now {}, baseline {}\n", text_from_moment(diff.now.moment), text_from_moment(diff.baseline.moment));
  if (diff.settings.empty()) return text;
  text += terminal.paint("\ndifferent settings: baseline -> now", Ink::dim) + "\n";
  for (const SettingChange& setting : diff.settings)
    text += fmt::format("  {}: {} -> {}\n", printable(setting.key), printable(text_from_setting(setting.baseline)),
                        printable(text_from_setting(setting.now)));
  return text + "\n";
}

std::string text_from_blocks(const TraceDiff& diff, const DiffOptions& options, const Terminal& terminal) {
  const BlockChanges& changes = diff.blocks.changes;
  const char* matched = diff.blocks.is_by_id ? "allocation id" : "stack and size";
  std::string text =
      terminal.paint(
          fmt::format("\n{:>10}  {:>9}  live blocks and handles, matched by {} (--where and --value do not apply)",
                      "change", "count", matched),
          Ink::dim) +
      "\n";
  text += change_line(changes.added, "new") + change_line(changes.gone, "gone");
  if (changes.grown.count + changes.shrunk.count > 0)
    text += change_line(changes.grown, "grown") + change_line(changes.shrunk, "shrunk");
  if (diff.blocks.is_by_id) text += change_line(changes.moved, "moved to another address");
  text += change_line(changes.unchanged, "unchanged");
  if (diff.blocks.user_code.empty()) return text;
  text += terminal.paint(fmt::format("\n{:>10}  blocks, by your code", "change"), Ink::dim) + "\n";
  std::size_t shown = 0;
  for (const BlockDiffRow& row : diff.blocks.user_code) {
    if (options.top != 0 && shown == options.top) break;
    text += row_line(row, terminal);
    ++shown;
  }
  if (shown < diff.blocks.user_code.size())
    text += terminal.paint(fmt::format("{} of {} lines; --top 0 prints all", shown, diff.blocks.user_code.size()),
                           Ink::dim) +
            "\n";
  return text;
}

Json json_with_traces(const Json& profiles, const TraceDiff& diff, std::size_t limit) {
  Json json;
  for (const auto& [key, value] : profiles.items()) {
    json[key] = key == "format" ? Json(diff.now.trace->format) : value;
    if (key != "now") continue;
    json["baseline_moment"] = json_from_moment(*diff.baseline.trace, diff.baseline.moment);
    json["now_moment"] = json_from_moment(*diff.now.trace, diff.now.moment);
    json["settings"] = json_from_settings(diff.settings);
    if (diff.heaps) json["heaps"] = json_from_heaps(*diff.heaps);
  }
  json["blocks"] = json_from_block_diff(diff.blocks, limit);
  return json;
}

}  // namespace hbmscope::cli
