// All of a stream once more, event by event: for what is asked of every single moment, as a picture of its course.
#pragma once

#include <utility>

#include "analysis/trace/stream.h"

namespace hbmscope {

// after(state, position, time in ns, heap id) follows each record that changed a heap; position 0: what lived before.
template <class After>
void replay(const Stream& stream, const After& after) {
  StreamState state;
  state.make_heaps(stream.definitions());
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  std::size_t number = 0;
  for (const wire::SharedBlock& block : stream.blocks()) {
    if (decoder.decode(*block, decoded)) return;
    state.apply(decoded, number++, stream.definitions(), stream.end_position(),
                [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                  after(std::as_const(state), position, time_ns, heap);
                });
  }
}

}  // namespace hbmscope
