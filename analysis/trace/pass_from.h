// A pass that begins at a state instead of before the first event: what happened in a stretch of a long stream, at the
// price of the stretch. As pass.h otherwise.
#pragma once

#include "analysis/trace/pass.h"

namespace hbmscope {

// Carries `state` on to the position `end`, with the observer that make_observer(decoded block) returns for each block;
// skip_rest() of an observer that has one is called when its block is done. go_on(events of a block) is called after
// each block; false ends the pass. False where it was ended so.
template <class MakeObserver, class GoOn>
bool pass_from(const Stream& stream, StreamState& state, std::uint64_t end, const GoOn& go_on,
               const MakeObserver& make_observer) {
  state.make_heaps(stream.definitions());
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  const auto& blocks = stream.blocks();
  for (std::size_t number = state.next_block(); number < blocks.size(); ++number) {
    if (blocks[number]->header.first_event > end) break;
    if (decoder.decode(*blocks[number], decoded)) break;  // It could be decoded when it was taken in.
    const auto& observer = make_observer(decoded);
    state.apply(decoded, number, stream.definitions(), end, observer);
    if constexpr (requires { observer.skip_rest(); }) observer.skip_rest();
    if (!go_on(std::uint64_t{blocks[number]->header.events})) return false;
    if (state.next_block() == number) break;  // Stopped inside of it.
  }
  return true;
}

// after(state, position, time in ns, heap id) follows each event that changed a heap, and what was listed of one.
template <class After, class GoOn>
bool pass_over_states_from(const Stream& stream, StreamState& state, std::uint64_t end, const GoOn& go_on,
                           const After& after) {
  const auto tell = [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
    after(static_cast<const StreamState&>(state), position, time_ns, heap);
  };
  return pass_from(stream, state, end, go_on, [&tell](const wire::DecodedBlock&) { return tell; });
}

// visit(state just after it, change, decoded block) for everything that changed a heap.
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
