// A pass that starts from a given state instead of the first event: it costs only as much as the range that it covers.
// Otherwise as pass.h.
#pragma once

#include "analysis/trace/pass.h"

namespace hbmscope {

// Advances `state` to the position `end`, with the observer that make_observer(decoded block) returns for each block.
// An observer's skip_rest(), if it has one, is called when its block is done. go_on(events of a block) is called after
// each block; if it returns false, the pass ends and returns false.
template <class MakeObserver, class GoOn>
bool pass_from(const Stream& stream, StreamState& state, std::uint64_t end, const GoOn& go_on,
               const MakeObserver& make_observer) {
  state.make_heaps(stream.definitions());
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  const auto& blocks = stream.blocks();
  for (std::size_t number = state.next_block(); number < blocks.size(); ++number) {
    if (blocks[number]->header.first_event > end) break;
    if (decoder.decode(*blocks[number], decoded)) break;  // It was decodable when it was appended.
    const auto& observer = make_observer(decoded);
    state.apply(decoded, number, stream.definitions(), end, observer);
    if constexpr (requires { observer.skip_rest(); }) observer.skip_rest();
    if (!go_on(std::uint64_t{blocks[number]->header.events})) return false;
    if (state.next_block() == number) break;  // Stopped inside this block.
  }
  return true;
}

// Calls after(state, position, time in ns, heap id) for each event that changed a heap, and once for what was listed of
// one.
template <class After, class GoOn>
bool pass_over_states_from(const Stream& stream, StreamState& state, std::uint64_t end, const GoOn& go_on,
                           const After& after) {
  const auto notify = [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
    after(static_cast<const StreamState&>(state), position, time_ns, heap);
  };
  return pass_from(stream, state, end, go_on, [&notify](const wire::DecodedBlock&) { return notify; });
}

// Calls visit(state just after it, change, decoded block) for everything that changed a heap.
template <class Visit, class GoOn>
bool pass_over_heaps_from(const Stream& stream, StreamState& state, std::uint64_t end, const GoOn& go_on,
                          const Visit& visit) {
  const auto skipped = [](const wire::DecodedBlock&, const RecordPlace&) {};
  ClearedBlocks cleared;
  return pass_from(stream, state, end, go_on, [&](const wire::DecodedBlock& block) {
    return HeapChangeObserver(block, static_cast<const StreamState&>(state), end, visit, skipped, &cleared);
  });
}

}  // namespace hbmscope
