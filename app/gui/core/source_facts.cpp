#include "app/gui/core/source_facts.h"

#include <algorithm>

#include "analysis/query/heap_rows.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"

namespace hbmscope::gui {
namespace {

// A dump or an error text lists blocks, one after the other, that were there at one time.
bool has_history(const Stream& stream) {
  const EventCounts& counts = stream.counts();
  if (!stream.has_times()) return counts.free > 0;
  return counts.total > counts.out_of_memory + counts.driver_refusals || !stream.counters().series().empty();
}

// An error text may give the sum of what is in use, which is one block without an address: a map of it says nothing.
bool is_one_sum(const Stream& stream, std::uint32_t heap) {
  constexpr std::uint64_t bytes_max = 1 << 16;  // Of an error text with what stands around it.
  if (stream.definitions().heap(heap).has(wire::heap_flag::has_addresses) || stream.encoded_bytes() > bytes_max)
    return false;
  return stream.state_at(stream.peak(heap).position).heap(heap).live_blocks <= 1;
}

// Totals over time without any block are shown, and the heap map says why it is empty.
bool has_blocks_or_history(const Stream& stream) {
  if (has_history(stream)) return true;
  for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
    if (stream.peak(heap).in_use_bytes > 0 && !is_one_sum(stream, heap)) return true;
  return false;
}

std::string_view why_none(const AppState& state, bool (*has)(const Stream&), std::string_view reason) {
  const Source* source = state.source();
  if (source == nullptr || source->live || !source->trace) return {};
  const auto& streams = source->trace->streams;
  return std::any_of(streams.begin(), streams.end(), has) ? std::string_view() : reason;
}

}  // namespace

std::string_view why_no_blocks(const AppState& state) {
  return why_none(state, has_blocks_or_history, "This source says what was requested, but lists no blocks.");
}

std::optional<std::uint64_t> shown_log_line(const AppState& state) {
  if (state.position().log_line) return state.position().log_line;
  const auto& answer = state.answers().headline.value;
  if (answer == nullptr || !answer->failure || why_no_blocks(state).empty()) return std::nullopt;
  return answer->failure->facts.log_line;
}

std::string_view why_no_history(const AppState& state) {
  return why_none(state, has_history, "This source describes one time; nothing changes in it.");
}

std::string headline_of(const Source& source) {
  if (!source.trace) return source.summary->headline;
  for (const Stream& stream : source.trace->streams)
    for (const FailureEvent& failure : stream.failures())
      if (failure.is_out_of_memory) return "out of memory: requested " + text_from_request(failure.requested_bytes);
  // Of the heap that opens first, as the answer bar says.
  const HeapKey heap = choose_heap(*source.trace, {});
  const std::uint64_t peak = heap.empty() ? 0 : source.trace->streams[heap.stream].peak(heap.heap).in_use_bytes;
  if (peak == 0 && is_of_log(*source.trace)) return headline_of_log(*source.trace);
  return peak == 0 ? source.summary->headline : "peak " + text_from_bytes(peak) + " in use";
}

}  // namespace hbmscope::gui
