// What happened to each block between two times of one stream. Blocks are paired by allocation id, which is exact and
// never reused, unlike an address.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/trace/stream_state.h"

namespace hbmscope {

enum class BlockFate : std::uint8_t { unchanged, added, gone, grown, shrunk, moved };  // moved: at the same size.

// `was` or `is` is empty (is_live() is false) if the block was not live then; never both.
BlockFate fate_of(const LiveBlock& was, const LiveBlock& is);

using VisitBlockPair = std::function<void(const LiveBlock& was, const LiveBlock& is)>;

// Visits every block of the heaps selected by `counts` that is live at one of the two times, once, in no particular
// order. Either time may be the earlier one. A damaged stream may contain an id twice; then any two such blocks are
// paired.
void match_blocks(const StreamState& baseline, const StreamState& now, const std::vector<bool>& counts,
                  const VisitBlockPair& visit);

}  // namespace hbmscope
