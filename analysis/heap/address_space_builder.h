// Rebuilds a space from a list of another one's contents: its regions, then its blocks in address order. No block needs
// a search, and the gaps between blocks enter the tables only at the end, so this costs a fraction of taking the blocks
// one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/heap/address_space.h"

namespace hbmscope {

class AddressSpaceBuilder {
 public:
  // Requires that all regions were added and nothing was taken yet. Reserves memory for this many blocks and free
  // blocks; it is fastest if there are no more than that.
  AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_blocks);
  // Until finish(), only loose blocks may be added to the space by other means.
  ~AddressSpaceBuilder() { finish(); }
  AddressSpaceBuilder(const AddressSpaceBuilder&) = delete;
  AddressSpaceBuilder& operator=(const AddressSpaceBuilder&) = delete;

  struct Block {
    std::uint64_t address = 0, size = 0;
    BlockIndex place = BlockIndex::none;  // Set by append().
  };
  // In address order. A block that does not follow the previous one within a region becomes loose.
  void append(std::span<Block> blocks);
  void finish();

 private:
  static constexpr std::size_t together_max = 64;  // Tags made in one batch: few enough to stay in the L1 cache.

  // Appends the leading blocks that follow each other in the current region, at most together_max. Returns their
  // number.
  std::size_t append_in_region(std::span<Block> blocks);
  // A block that may need the next region, or may be impossible.
  BlockIndex append_elsewhere(std::uint64_t address, std::uint64_t size);
  void open_region();
  void close_region();

  AddressSpace& space_;
  std::vector<AddressSpace::Tag> tags_together_;  // Tags of one batch: blocks and the gaps before them.
  std::vector<AddressSpace::TagIndex> regions_;   // In order.
  std::size_t at_ = 0;
  AddressSpace::TagIndex rest_ = AddressSpace::no_tag;  // The free chunk at the end of the current region.
  std::uint64_t cursor_ = 0;                            // Where that chunk begins now.
  AddressSpace::TagIndex last_ = AddressSpace::no_tag;  // The chunk before it, or the region.
  // Free blocks between blocks, entered into the tables at the end: where they begin, and how large they are.
  std::vector<std::pair<std::uint64_t, AddressSpace::TagIndex>> gaps_;
  std::vector<std::uint64_t> gap_sizes_;
  std::vector<AddressSpace::TagIndex> unneeded_;  // Free chunks of regions that have no room left.
};

}  // namespace hbmscope
