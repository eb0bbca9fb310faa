// A trace at the moment that is looked at: where each stream stands, what then lives, and which heap of it a picture
// shows.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "analysis/trace/moment.h"
#include "app/gui/sources/moment_name.h"

namespace hbmscope::gui {

std::string text_from_heap_key(HeapKey key);  // "1:2", both from 1, as a command's text names it.
std::optional<HeapKey> parse_heap_key(std::string_view text);

struct TraceMoment {
  std::shared_ptr<const Trace> trace;
  Moment moment;
  std::vector<StreamState> states;  // By stream.

  const StreamState& state_of(HeapKey key) const { return states[key.stream]; }
  const HeapState& heap(HeapKey key) const { return states[key.stream].heap(key.heap); }
  const Stream& stream(HeapKey key) const { return trace->streams[key.stream]; }
  std::uint64_t position(HeapKey key) const { return moment.positions[key.stream]; }
};

// "at the peak (...)", "after 7 of 10 events": how a sentence about the moment begins.
std::string phrase_of(const Moment& moment);

// What a device's memory is seen as by each source of one process: the driver's allocations, a pool, buffers. The heap
// of each layer that held the most, in the order from the driver up; one only where there is one view of the bytes.
struct LayerChoice {
  wire::Layer layer = wire::Layer::pool;
  HeapKey heap;
};
std::vector<LayerChoice> layers_of(const Trace& trace, HeapKey shown);
std::string_view title_of(wire::Layer layer);  // "Driver", "Pool", ...

bool has_failures(const Trace& trace);  // Out-of-memories.
// The moment at which a trace is opened: the first out-of-memory, not counting those of a GPU that a TPU is compared
// with, else the peak; empty (the end) where there is neither.
MomentName opening_moment(const Trace& trace);

// How many of the stream's failures stand up to a position, and right at it.
std::size_t failures_until(const Stream& stream, std::uint64_t position);

// The out-of-memories of one heap's stream before or after a position, the nearest: what [ and ] go to.
std::optional<std::uint64_t> next_failure(const Stream& stream, std::uint64_t position);
std::optional<std::uint64_t> previous_failure(const Stream& stream, std::uint64_t position);

}  // namespace hbmscope::gui
