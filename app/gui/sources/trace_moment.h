// A trace at one time: the position of each stream, the live blocks there, and the heap that a picture shows.
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

std::string text_from_heap_key(HeapKey key);  // "1:2", both counted from 1, as in a command's text.
std::optional<HeapKey> parse_heap_key(std::string_view text);

struct TraceMoment {
  std::shared_ptr<const Trace> trace;
  Moment moment;
  std::vector<StreamState> states;  // Per stream.

  const StreamState& state_of(HeapKey key) const { return states[key.stream]; }
  const HeapState& heap(HeapKey key) const { return states[key.stream].heap(key.heap); }
  const Stream& stream(HeapKey key) const { return trace->streams[key.stream]; }
  std::uint64_t position(HeapKey key) const { return moment.positions[key.stream]; }
  // Just before a request of the heap's stream that failed. Null if the next event is none, or if another instant is
  // known: nothing may have happened for seconds around the failure.
  const FailureEvent* failure(HeapKey key) const;
  // On the clock of the heap's stream, as in time_of().
  std::int64_t time_ns(HeapKey key) const { return state_of(key).time_ns(); }
};

// The layers in which one process's memory is visible: driver allocations, a pool, buffers. It has the largest heap of
// each layer, from the driver up; only one entry if there is one layer.
struct LayerChoice {
  wire::Layer layer = wire::Layer::pool;
  HeapKey heap;
};
std::vector<LayerChoice> layers_of(const Trace& trace, HeapKey shown);
std::string_view title_of(wire::Layer layer);  // "Driver", "Pool", ...

bool has_failures(const Trace& trace);  // Out-of-memory failures.
// The time at which a trace opens: the first out-of-memory (not counting those of a GPU that a TPU is compared with),
// else the peak; empty (the end) if there is neither.
MomentName opening_moment(const Trace& trace);
// The peak of one heap: "peak" if it is that of the trace, too. Empty if no heap ever held anything.
MomentName peak_moment(const Trace& trace, HeapKey heap);

// The number of failures of the stream up to and including `position`.
std::size_t failures_until(const Stream& stream, std::uint64_t position);

// The nearest out-of-memory before or after `position` in one heap's stream, for the keys [ and ].
std::optional<std::uint64_t> next_failure(const Stream& stream, std::uint64_t position);
std::optional<std::uint64_t> previous_failure(const Stream& stream, std::uint64_t position);

}  // namespace hbmscope::gui
