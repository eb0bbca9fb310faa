// The blocks from before the first entry whose end is not known: freed later, so that only the requested size is
// recorded, and with free space above them that may be a part of them (size_rules.h). Something that is allocated right
// above such a block shows where it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

namespace hbmscope::torch {

class OpenEnds {
 public:
  struct Block {
    std::uint64_t address = 0, excess_bytes_max = 0;
  };

  bool empty() const { return blocks_.empty(); }
  void add(std::uint64_t end, const Block& block) { blocks_[end] = block; }
  // The block with this end is known exactly, or is gone.
  void close(std::uint64_t end) { blocks_.erase(end); }

  // Where the block below a free range that begins at `free_begin` has to end, as something was allocated at `address`
  // in that range: PyTorch allocates at the low end of free space. Nothing if no such block is below the range, or if
  // it can't reach so far.
  std::optional<Block> find_reaching(std::uint64_t free_begin, std::uint64_t address) const {
    const auto found = blocks_.find(free_begin);
    if (found == blocks_.end() || address - free_begin > found->second.excess_bytes_max) return std::nullopt;
    return found->second;
  }

 private:
  std::unordered_map<std::uint64_t, Block> blocks_;  // By end, as far as it is known.
};

}  // namespace hbmscope::torch
