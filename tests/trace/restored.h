// Converts a state to a keyframe and back, for tests that compare the two.
#pragma once

#include "analysis/trace/keyframe.h"

namespace hbmscope {

inline StreamState restored(const StreamState& state, const Definitions& definitions) {
  wire::BlockEncoder encoder(0, wire::BlockType::keyframe);
  return StreamState::from_keyframe(state.make_keyframe(encoder), definitions);
}

}  // namespace hbmscope
