// The report section about a trace: heaps at a time, events, failures.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/query/log_headline.h"
#include "analysis/read/source/read_source.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_trace.h"
#include "app/cli/figure_text.h"
#include "app/cli/report_accounts.h"
#include "app/cli/report_address.h"
#include "app/cli/report_failures.h"
#include "app/cli/report_ranks.h"
#include "app/cli/report_section.h"
#include "app/cli/report_text.h"

namespace hbmscope::cli {
namespace {

std::string inexact_text(const HeapRow& row) {
  if (!row.is_inexact && row.is_peak_minimum)
    return "the peak may be higher: the sizes of some blocks, or a part of the history, are unknown";
  std::string text = row.is_inexact ? "inexact" : "the peak is inexact";
  if (row.is_inexact && row.inexact_since_start_ns) text += " since " + seconds_text(*row.inexact_since_start_ns);
  text += ": events were lost or contradict each other";
  if (row.is_inexact && row.is_peak_inexact) text += "; the peak is inexact too";
  return text;
}

std::string heaps_text(std::vector<HeapRow> rows, const Terminal& terminal) {
  std::erase_if(rows, [](const HeapRow& row) { return row.is_in_use_unknown && !row.pool_bytes && !row.free_bytes; });
  if (rows.empty()) return {};
  std::stable_sort(rows.begin(), rows.end(), [](const HeapRow& a, const HeapRow& b) { return a.rank < b.rank; });
  std::size_t width = 4;
  for (const HeapRow& row : rows) width = std::max(width, display_width(printable(row.label)));
  std::string text =
      terminal.paint(fmt::format("{}  {:>10}  {:>10}  {:>10}  {:>10}  {:>12}  {:>9}  {:>9}  {:>10}  {:>8}",
                                 pad_right("heap", width), "in use", "requested", "pool", "free", "largest free",
                                 "ext. frag", "int. frag", "peak", "blocks"),
                     Ink::dim) +
      "\n";
  for (const HeapRow& row : rows) {
    text += fmt::format("{}  {:>10}  {}  {}  {}  {}  {}  {}  {:>10}  {:>8}", pad_right(printable(row.label), width),
                        row.is_in_use_unknown ? "–" : text_from_bytes(row.in_use_bytes),
                        pad_left(text_or_dash(row.requested_bytes), 10), pad_left(text_or_dash(row.pool_bytes), 10),
                        pad_left(text_or_dash(row.free_bytes), 10), pad_left(text_or_dash(row.largest_free_bytes), 12),
                        pad_left(text_from_known_share(row.external_fragmentation), 9),
                        pad_left(text_from_known_share(row.internal_fragmentation), 9),
                        text_from_bytes(row.peak_in_use_bytes), text_from_count(row.live_blocks));
    if (row.pending_bytes > 0) text += fmt::format("  {} pending", text_from_bytes(row.pending_bytes));
    if (row.is_inexact || row.is_peak_inexact) text += terminal.paint("  " + inexact_text(row), Ink::bad);
    text += "\n";
  }
  for (const HeapRow& row : rows)
    if (row.driver_pools && row.driver_pools->kept_bytes > 0)
      text += fmt::format("{}: {} kept by the driver's memory pools, free but not returned to the device\n",
                          printable(row.label), text_from_bytes(row.driver_pools->kept_bytes));
  return text;
}

std::string events_text(const Trace& trace) {
  const EventCounts counts = compute_event_counts(trace);

  std::string text = fmt::format("{} events: {} allocations, {} frees", text_from_count(counts.total),
                                 text_from_count(counts.alloc), text_from_count(counts.free));
  std::uint64_t emulated = 0;
  for (const Stream& stream : trace.streams)
    for (const FailureEvent& failure : stream.failures())
      emulated += failure.is_out_of_memory && is_of_extra_pool(stream, failure) ? 1 : 0;
  const std::uint64_t own = counts.out_of_memory - std::min(emulated, counts.out_of_memory);
  if (own > 0) text += fmt::format(", {} out of memory", text_from_count(own));
  if (emulated > 0) text += fmt::format(", {} out of memory in the emulated GPU pool", text_from_count(emulated));
  if (counts.driver_refusals > 0)
    text += fmt::format(", {} refused by the driver", text_from_count(counts.driver_refusals));
  if (counts.lost > 0) text += fmt::format(", {} lost", text_from_count(counts.lost));
  if (counts.skipped > 0) text += fmt::format(", {} skipped", text_from_count(counts.skipped));
  std::uint64_t numbers = 0;
  for (const Stream& stream : trace.streams) numbers += stream.end_position();
  if (own + emulated + counts.driver_refusals > 0 && numbers > counts.total)
    text +=
        fmt::format("; event numbers include {} markers, counters and notes", text_from_count(numbers - counts.total));
  return text + "\n";
}

Result<std::string> heaps_section_text(const ReportInput& input, const ReportStyle& style) {
  constexpr std::size_t emulated_failures_shown = 3;
  const Trace& trace = *input.source.trace;
  std::vector<HeapRow> rows = compute_heap_rows(trace, input.source.states);
  std::string head = moment_text(input.source);
  if (trace.streams.size() > ranks_with_heaps_max) {
    const std::vector<RankRow> ranks = compute_rank_rows(trace, input.source.states);
    if (ranks.size() > ranks_with_heaps_max) {
      head = "Heaps of " + printable(ranks.front().name);
      std::erase_if(rows, [&](const HeapRow& row) { return row.stream != ranks.front().stream; });
    }
  }
  std::string heaps = heaps_text(std::move(rows), style.terminal);
  if (!heaps.empty()) heaps = fmt::format("\n{}:\n{}", head, heaps);
  heaps += text_from_accounts(find_device_accounts(trace, input.source.states), trace);
  // A log is opened for its failures; what was in use explains them.
  const bool is_log = is_of_log(trace);
  std::string text = is_log ? std::string() : heaps + events_text(trace);
  // The others are explained above.
  std::vector<ShownFailure> emulated = find_failures(trace);
  std::erase_if(emulated, [&](const ShownFailure& failure) {
    const Stream& stream = trace.streams[failure.stream];
    return !is_of_extra_pool(stream, stream.failures()[failure.index]);
  });
  const std::size_t first = emulated.size() - std::min(emulated_failures_shown, emulated.size());
  if (first > 0) text += fmt::format("The last {} of {} failures:\n", emulated_failures_shown, emulated.size());
  for (std::size_t i = first; i < emulated.size(); ++i) text += text_from_failure(trace, emulated[i], style.terminal);
  return text + text_from_pending(trace) + (is_log ? heaps : std::string());
}

Result<void> add_heaps(nlohmann::ordered_json& json, const ReportInput& input) {
  const Trace& trace = *input.source.trace;
  add_moment(json, trace, input.source.moment, input.source.states);
  json["device_accounts"] = json_from_accounts(find_device_accounts(trace, input.source.states));
  add_failure_facts(json["failures"], trace);
  add_pending(json["failures"], trace);
  return {};
}

}  // namespace

ReportSection heaps_section() {
  return {.name = "heaps", .needs_trace = true, .text = heaps_section_text, .add_json = add_heaps};
}

}  // namespace hbmscope::cli
