#include "app/cli/report_range.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/answers/answer_table.h"
#include "analysis/answers/heaps.h"
#include "analysis/document/json.h"
#include "analysis/query/range_summary.h"
#include "analysis/query/short_name.h"
#include "analysis/query/trace_user_code.h"
#include "analysis/query/visible_frames.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json.h"
#include "analysis/write/json_optional.h"
#include "analysis/write/json_trace.h"
#include "app/cli/cli.h"
#include "app/cli/figure_text.h"
#include "app/cli/load.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RangeReport {
  const Trace& trace;
  const TraceRange& range;
  const RangeSummary& summary;
  const ReportOptions& options;

  std::size_t shown(std::size_t rows, std::size_t most) const { return most == 0 ? rows : std::min(rows, most); }
};

std::string sum_line(const BlockSum& sum, std::string_view what) {
  return fmt::format("{:>10}  {:>9}  {}\n", text_from_bytes(signed_from(sum.bytes)),
                     text_from_count(signed_from(sum.count)), what);
}

std::string totals_text(const RangeReport& report, const Terminal& terminal) {
  const RangeSummary& summary = report.summary;
  std::string text =
      fmt::format("From {}\nto {}\n\n", printable(report.range.from.text), printable(report.range.to.text));
  text += terminal.paint(fmt::format("{:>10}  {:>9}", "bytes", "blocks"), Ink::dim) + "\n";
  text += sum_line(summary.total.allocated, "allocated") + sum_line(summary.total.freed, "freed");
  text += sum_line(summary.freed_older, "of these, allocated before the range");
  text += sum_line(summary.total.survived, "survived: allocated in the range and live at its end");
  text += fmt::format("{:>10}  {:>9}  change of memory in use", delta_text_from_bytes(summary.in_use_delta_bytes), "");
  if (summary.other_delta_bytes != 0)
    text += fmt::format("; {} of it without an allocation or free (a heap that was removed, a new listing, handles)",
                        delta_text_from_bytes(summary.other_delta_bytes));
  return text + "\n";
}

std::string heaps_text(const RangeReport& report, const Terminal& terminal) {
  std::size_t width = 4;
  for (const HeapRow& row : report.summary.heaps_after) width = std::max(width, display_width(printable(row.name)));
  std::string text = terminal.paint(fmt::format("\n{}  {:>23}  {:>23}  {:>23}  {:>18}", pad_right("heap", width),
                                                "in use", "pool", "largest free", "ext. fragmentation"),
                                    Ink::dim) +
                     "\n";
  for (std::size_t i = 0; i < report.summary.heaps_after.size(); ++i) {
    const HeapRow &before = report.summary.heaps_before[i], &after = report.summary.heaps_after[i];
    const auto pair = [](const std::string& a, const std::string& b, std::size_t size) {
      return pad_left(a + " → " + b, size);
    };
    text += fmt::format("{}  {}  {}  {}  {}\n", pad_right(printable(after.name), width),
                        pair(text_or_dash(before.in_use_bytes), text_or_dash(after.in_use_bytes), 23),
                        pair(text_or_dash(before.pool_bytes), text_or_dash(after.pool_bytes), 23),
                        pair(text_or_dash(before.largest_free_bytes), text_or_dash(after.largest_free_bytes), 23),
                        pair(text_from_known_share(before.external_fragmentation),
                             text_from_known_share(after.external_fragmentation), 18));
  }
  return text;
}

std::string figures_text(const RangeSums& sums) {
  return fmt::format("{:>10}  {:>9}  {:>10}  {:>10}  {:>10}", text_from_bytes(signed_from(sums.survived.bytes)),
                     text_from_count(signed_from(sums.survived.count)), delta_text_from_bytes(sums.net_bytes()),
                     text_from_bytes(signed_from(sums.allocated.bytes)),
                     text_from_bytes(signed_from(sums.freed.bytes)));
}
constexpr std::string_view figures_head = "  survived     blocks         net   allocated       freed";

std::string more_text(std::size_t shown, std::size_t of, std::string_view option, const Terminal& terminal) {
  if (shown == of) return {};
  return terminal.paint(fmt::format("{} of {}; {} 0 prints all", shown, text_from_count(signed_from(of)), option),
                        Ink::dim) +
         "\n";
}

std::string own_text(const RangeReport& report, const Terminal& terminal) {
  const auto& rows = report.summary.user_code;
  const std::size_t shown = report.shown(rows.size(), report.options.own);
  std::string text =
      terminal.paint(fmt::format("\n{}  by your code, where it was allocated", figures_head), Ink::dim) + "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    const RangeOwnRow& row = rows[i];
    const std::string name = row.function.empty() ? std::string(row.no_line_text())
                                                  : fmt::format("{} {}:{}", row.function, row.file, row.line);
    text += figures_text(row.sums) + "  " + printable(name) + "\n";
  }
  return text + more_text(shown, rows.size(), "--own", terminal);
}

// The innermost frames tell what was allocated, and the innermost line of your code tells where. The outermost frames
// are the same in all stacks.
std::string stack_text(const Definitions& definitions, const VisibleFrames& visible, std::uint32_t stack) {
  constexpr std::size_t frames_max = 2;
  if (stack == 0) return "(no stack)";
  const std::vector<TraceFrame> frames = visible.of(definitions, stack);
  const auto own = find_own_frame(definitions, stack);
  std::string text;
  std::size_t shown = 0;
  bool has_own = !own;
  for (; shown < std::min(frames.size(), frames_max); ++shown) {
    text += (shown > 0 ? " < " : "") + short_name_of_function(definitions.text(frames[shown].function));
    has_own = has_own || frames[shown] == *own;
  }
  if (has_own) return text + (shown < frames.size() ? " < ..." : "");
  const bool is_next = shown < frames.size() && frames[shown] == *own;
  return text + (is_next ? " < " : " < ... < ") + user_code_text(definitions, stack);
}

std::string stacks_text(const RangeReport& report, const Terminal& terminal) {
  const auto& rows = report.summary.stacks;
  const std::size_t shown = report.shown(rows.size(), report.options.top);
  const VisibleFrames visible(report.trace);
  std::string text =
      terminal.paint(fmt::format("\n{}  by stack, by net bytes, innermost frame first", figures_head), Ink::dim) + "\n";
  for (std::size_t i = 0; i < shown; ++i)
    text += figures_text(rows[i].sums) + "  " +
            printable(stack_text(report.trace.streams[rows[i].stream].definitions(), visible, rows[i].stack)) + "\n";
  return text + more_text(shown, rows.size(), "--top", terminal);
}

Json json_from_sum(const BlockSum& sum) {
  return {{"count", sum.count}, {"bytes", sum.bytes}};
}
void add_sums(Json& json, const RangeSums& sums) {
  json["allocated"] = json_from_sum(sums.allocated);
  json["freed"] = json_from_sum(sums.freed);
  json["survived"] = json_from_sum(sums.survived);
  json["net_bytes"] = sums.net_bytes();
}
Json json_from_stack(const Definitions& definitions, std::uint32_t stack) {
  constexpr int frames_max = 4096;  // Python itself stops at 1,000 frames; a damaged file may have more.
  Json list = Json::array();
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
    list.push_back({{"name", definitions.text(frame.function)},
                    {"file", definitions.text(frame.file)},
                    {"line", frame.line == 0 ? Json(nullptr) : Json(frame.line)}});
  }
  return list;
}

std::string json_report(const RangeReport& report) {
  const RangeSummary& summary = report.summary;
  Json json = {{"schema", json_schema}, {"format", report.trace.format}, {"files", report.trace.files}};
  Json range = {{"from", json_from_moment(report.trace, report.range.from)},
                {"to", json_from_moment(report.trace, report.range.to)}};
  add_sums(range, summary.total);
  range["freed_older"] = json_from_sum(summary.freed_older);
  range["in_use_delta_bytes"] = summary.in_use_delta_bytes;
  range["other_delta_bytes"] = summary.other_delta_bytes;
  range["heaps_before"] = json_from_table(describe_heaps(summary.heaps_before));
  range["heaps_after"] = json_from_table(describe_heaps(summary.heaps_after));
  range["own_code"] = Json::array();
  for (std::size_t i = 0; i < report.shown(summary.user_code.size(), report.options.own); ++i) {
    const RangeOwnRow& row = summary.user_code[i];
    Json one = {{"name", or_null(row.function)}, {"file", or_null(row.file)}};
    one["line"] = row.line == 0 ? Json(nullptr) : Json(row.line);
    one["thread"] = row.is_autograd_thread ? Json("autograd") : Json(nullptr);
    add_sums(one, row.sums);
    range["own_code"].push_back(std::move(one));
  }
  range["stacks"] = Json::array();
  for (std::size_t i = 0; i < report.shown(summary.stacks.size(), report.options.top); ++i) {
    const RangeStackRow& row = summary.stacks[i];
    Json one = Json::object();
    add_sums(one, row.sums);
    one["stack"] = json_from_stack(report.trace.streams[row.stream].definitions(), row.stack);
    range["stacks"].push_back(std::move(one));
  }
  json["range"] = std::move(range);
  return text_from_json(json);
}

Result<void> check_range_options(const ReportOptions& options) {
  constexpr std::string_view why = "can't be combined with --from, which prints everything that changed";
  if (auto allowed = options.used.refuse(answer_flags(), why); !allowed) return allowed;
  return options.used.refuse(
      {"--where", "--focus", "--ignore", "--hide", "--show", "--value", "--keep-dropped-frames", "--relative", "--by",
       "--cum", "--count", "--series", "--fail-if", "--only", "--brief", "--blocks", "--address", "--order", "--ascending"},
      why);
}

}  // namespace

int run_report_range(const ReportOptions& options) {
  if (options.from.empty())
    return fail(refusal("the time of --from is empty", "Write start, peak, oom, 12.5s or '#4711'."));
  if (auto checked = check_range_options(options); !checked) return fail(checked.error());
  LoadOptions load = load_options(options.view);
  load.at.clear();
  const auto source = load_merged(options.files, load);
  if (!source) return fail(source.error());
  if (!source->trace)
    return fail(
        refusal("a profile has no range: it has no events", "Remove --from, or use one snapshot, log or recording."));
  const Trace& trace = *source->trace;
  const auto range = find_range(trace, options.from, options.view.at);
  if (!range) return fail(range.error());
  PassControl control;
  const auto summary = [&] {
    const ProgressLine progress("Range", control);
    return compute_range_summary(trace, compute_states(trace, range->from), compute_states(trace, range->to), &control);
  }();
  const RangeReport report{trace, *range, *summary, options};
  if (options.json) return print_to_stdout(json_report(report)) ? exit_ok : exit_unreadable;
  const Terminal terminal = Terminal::of_stdout();
  return print_to_stdout(totals_text(report, terminal) + heaps_text(report, terminal) + own_text(report, terminal) +
                         stacks_text(report, terminal))
             ? exit_ok
             : exit_unreadable;
}

}  // namespace hbmscope::cli
