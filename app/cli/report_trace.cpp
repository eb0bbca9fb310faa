#include "app/cli/report_trace.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "analysis/query/heap_rows.h"
#include "analysis/trace/layers.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "analysis/write/json_trace.h"
#include "app/cli/report_failures.h"
#include "app/cli/report_program.h"
#include "app/cli/report_told.h"

namespace hbmscope::cli {
namespace {

std::string inexact_text(const HeapRow& row) {
  std::string text = row.is_inexact ? "inexact" : "the peak is inexact";
  if (row.is_inexact && row.inexact_since_start_ns)
    text += fmt::format(" since {:.6f} s", static_cast<double>(*row.inexact_since_start_ns) / 1e9);
  text += ": events were lost, or contradict each other";
  if (row.is_inexact && row.is_peak_inexact) text += "; the peak is inexact too";
  return text;
}

std::string heaps_text(std::vector<HeapRow> rows, const Terminal& terminal) {
  std::stable_sort(rows.begin(), rows.end(), [](const HeapRow& a, const HeapRow& b) { return a.rank < b.rank; });
  std::size_t width = 4;
  for (const HeapRow& row : rows) width = std::max(width, display_width(printable(row.label)));
  std::string text =
      terminal.paint(fmt::format("{}  {:>10}  {:>10}  {:>10}  {:>10}  {:>12}  {:>8}  {:>8}  {:>10}  {:>8}",
                                 pad_right("heap", width), "in use", "requested", "pool size", "free", "largest free",
                                 "external", "internal", "peak", "blocks"),
                     Ink::dim) +
      "\n";
  for (const HeapRow& row : rows) {
    text += fmt::format("{}  {:>10}  {:>10}  {:>10}  {:>10}  {:>12}  {}  {}  {:>10}  {:>8}",
                        pad_right(printable(row.label), width), text_from_bytes(row.in_use_bytes),
                        text_from_known_bytes(row.requested_bytes), text_from_known_bytes(row.pool_bytes), text_from_known_bytes(row.free_bytes),
                        text_from_known_bytes(row.largest_free_bytes), pad_left(text_from_known_share(row.external_fragmentation), 8),
                        pad_left(text_from_known_share(row.internal_fragmentation), 8), text_from_bytes(row.peak_in_use_bytes),
                        text_from_count(row.live_blocks));
    if (row.pending_bytes > 0) text += fmt::format("  {} pending", text_from_bytes(row.pending_bytes));
    if (row.is_inexact || row.is_peak_inexact) text += terminal.paint("  " + inexact_text(row), Ink::bad);
    text += "\n";
  }
  return text;
}

std::string events_text(const Trace& trace) {
  const EventCounts counts = compute_event_counts(trace);

  std::string text = fmt::format("{} events: {} allocations, {} frees", text_from_count(counts.total),
                                 text_from_count(counts.alloc), text_from_count(counts.free));
  std::uint64_t beside = 0;
  for (const Stream& stream : trace.streams)
    for (const FailureEvent& failure : stream.failures())
      beside += failure.is_out_of_memory && is_of_one_beside(stream, failure) ? 1 : 0;
  const std::uint64_t own = counts.out_of_memory - std::min(beside, counts.out_of_memory);
  if (own > 0) text += fmt::format(", {} out of memory", text_from_count(own));
  if (beside > 0) text += fmt::format(", {} out of memory in the GPU pool beside it", text_from_count(beside));
  if (counts.driver_refusals > 0)
    text += fmt::format(", {} refused by the driver", text_from_count(counts.driver_refusals));
  if (counts.lost > 0) text += fmt::format(", {} lost", text_from_count(counts.lost));
  if (counts.skipped > 0) text += fmt::format(", {} skipped", text_from_count(counts.skipped));
  return text + "\n";
}

std::string failure_text(const FailureRow& row, bool is_beside, const Terminal& terminal) {
  std::string text = terminal.paint(is_beside ? "Out of memory in the GPU pool beside it" : "Out of memory", Ink::bad);
  if (row.device && !is_beside) text += fmt::format(" on device {}", *row.device);
  if (row.since_start_ns) text += fmt::format(" at {:.6f} s", static_cast<double>(*row.since_start_ns) / 1e9);
  text += fmt::format(
      " (event {}): asked {}; then in use {}, pool size {}, free in it {}, largest free block {}; the "
      "driver had {}.\n",
      row.event, text_from_bytes(row.asked_bytes), text_from_known_bytes(row.used_bytes), text_from_known_bytes(row.pool_bytes),
      text_from_known_bytes(row.total_free_bytes), text_from_known_bytes(row.largest_free_bytes),
      row.available_bytes ? text_from_bytes(*row.available_bytes) + " left" : "an unknown amount left");
  if (!row.own_line.empty()) text += "  asked by " + printable(row.own_line) + "\n";
  return text;
}

// By row of compute_failure_rows: the stream, and which of its failures.
std::vector<std::pair<std::size_t, std::size_t>> places_of(const Trace& trace) {
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream)
    for (std::size_t i = 0; i < trace.streams[stream].failures().size(); ++i)
      if (trace.streams[stream].failures()[i].is_out_of_memory) places.emplace_back(stream, i);
  return places;
}

}  // namespace

std::string text_from_trace(const Source& source, const Terminal& terminal) {
  constexpr std::size_t failures_shown = 3;
  std::string text = fmt::format("At {}:\n", source.moment.text);
  text += heaps_text(compute_heap_rows(*source.trace, source.states), terminal);
  text += events_text(*source.trace);
  const std::vector<FailureRow> failures = compute_failure_rows(*source.trace);
  const auto places = places_of(*source.trace);
  const std::size_t first = failures.size() > failures_shown ? failures.size() - failures_shown : 0;
  if (first > 0) text += fmt::format("The last {} of {} failures:\n", failures_shown, failures.size());
  for (std::size_t i = first; i < failures.size(); ++i) {
    const Stream& stream = source.trace->streams[places[i].first];
    const bool is_beside = is_of_one_beside(stream, stream.failures()[places[i].second]);
    text += failure_text(failures[i], is_beside, terminal) +
            text_from_failure_facts(*source.trace, places[i].first, places[i].second, terminal);
  }
  return text + text_from_pending(*source.trace);
}

void add_trace(nlohmann::ordered_json& json, const Source& source) {
  add_moment(json, *source.trace, source.moment, source.states);
  add_told(json, source);
  add_program(json, *source.trace);
  add_failure_facts(json["failures"], *source.trace);
  add_pending(json["failures"], *source.trace);
}

}  // namespace hbmscope::cli
