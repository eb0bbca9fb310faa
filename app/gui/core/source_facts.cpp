#include "app/gui/core/source_facts.h"

#include <algorithm>

namespace hbmscope::gui {
namespace {

bool has_blocks(const Stream& stream) {
  for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap)
    if (stream.peak(heap).in_use_bytes > 0) return true;
  return false;
}

// Failures and figures without times are no history: a dump is of one time.
bool has_history(const Stream& stream) {
  const EventCounts& counts = stream.counts();
  return counts.total > counts.out_of_memory + counts.driver_refusals ||
         (stream.has_times() && !stream.counters().series().empty());
}

std::string_view why_none(const AppState& state, bool (*has)(const Stream&), std::string_view reason) {
  const Source* source = state.source();
  if (source == nullptr || source->live || !source->trace) return {};
  const auto& streams = source->trace->streams;
  return std::any_of(streams.begin(), streams.end(), has) ? std::string_view() : reason;
}

}  // namespace

std::string_view why_no_blocks(const AppState& state) {
  return why_none(state, has_blocks, "This source says what was requested, but lists no blocks.");
}

std::string_view why_no_history(const AppState& state) {
  return why_none(state, has_history, "This source describes one time; nothing changes in it.");
}

}  // namespace hbmscope::gui
