// Blocks whose allocation has no event: it was before the profile began, or where events are missing. They are known
// from their frees; what the allocator's figures have beyond them has no address.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/read/xspace/event_chain.h"
#include "analysis/read/xspace/memory_events.h"

namespace hbmscope::xspace {

struct FirstBlock {
  std::uint64_t address = 0, size = 0, requested = 0;
  std::uint32_t allocator = 0;
};

struct FirstBlocks {
  std::vector<FirstBlock> blocks;            // Live when the profile began.
  std::vector<std::uint64_t> unnamed_bytes;  // By allocator: in use then, beyond those blocks.
  struct InGap {
    std::vector<FirstBlock> blocks;
    std::uint64_t unnamed_bytes = 0;
  };
  std::vector<InGap> in_gaps;      // By index of Chain::gaps.
  std::uint64_t address_last = 0;  // The highest of all events.
};

FirstBlocks find_first_blocks(const MemoryEvents& events, const Chain& chain, std::size_t allocators);

}  // namespace hbmscope::xspace
