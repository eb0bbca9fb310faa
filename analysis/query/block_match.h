// What became of each block between two moments of one stream: paired by allocation id, which is exact and never used
// twice, unlike an address.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/trace/stream_state.h"

namespace hbmscope {

enum class BlockFate : std::uint8_t { unchanged, added, gone, grown, shrunk, moved };  // moved: of the same size.

// `was` or `is` holds nothing (is_live() is false) where the block did not live then; never both.
BlockFate fate_of(const LiveBlock& was, const LiveBlock& is);

using VisitBlockPair = std::function<void(const LiveBlock& was, const LiveBlock& is)>;

// Every block of the heaps that `counts` names by id and that lives at one of the two moments, once, in no particular
// order. Which moment is the earlier one does not matter. A damaged stream may have one id twice: then any two of them
// are paired.
void match_blocks(const StreamState& baseline, const StreamState& now, const std::vector<bool>& counts,
                  const VisitBlockPair& visit);

}  // namespace hbmscope
