// The live blocks of a stream by heap and address, for listings: a listed block that was there before, with the same
// size and stack, is the same allocation, so its id keeps the time at which it was allocated.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "analysis/trace/stream.h"

namespace hbmscope::torch {

class BlocksByPlace {
 public:
  // The stream's writer must have been flushed.
  explicit BlocksByPlace(const Stream& stream) {
    for (const LiveBlock& block : stream.last_state().slots())
      if (block.is_live()) blocks_.emplace(std::pair(block.heap, block.address), block);
  }

  void keep_event(wire::LiveRecord& block) const {
    const auto was = blocks_.find({block.heap, block.address});
    if (was != blocks_.end() && was->second.size == block.size && was->second.stack == block.stack)
      block.event = was->second.event;
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, LiveBlock> blocks_;
};

}  // namespace hbmscope::torch
