// A space built anew from a list of what another one held: its regions, then its blocks in the order of addresses. No
// block looks for its place, and what blocks leave free between them is entered into tables when all are known, so that
// this costs a fraction of taking them one by one.
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
  // All regions are added and nothing was taken yet. Memory is made for so many blocks and free pieces at once; it is
  // fastest when they are no more.
  AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_pieces);
  // Until finish() nothing else may change the space, but for loose blocks.
  ~AddressSpaceBuilder() { finish(); }
  AddressSpaceBuilder(const AddressSpaceBuilder&) = delete;
  AddressSpaceBuilder& operator=(const AddressSpaceBuilder&) = delete;

  struct Block {
    std::uint64_t address = 0, size = 0;
    BlockIndex place = BlockIndex::none;  // The answer.
  };
  // In the order of addresses. One that does not lie behind the block before, within one region, becomes loose.
  void append(std::span<Block> blocks);
  void finish();

 private:
  static constexpr std::size_t together_max = 64;  // Whose tags are made at a time: they stay in the nearest cache.

  // Appends those at the beginning that lie behind each other in the region at hand, at most together_max. How many?
  std::size_t append_in_region(std::span<Block> blocks);
  // One that may need the next region, or not be possible.
  BlockIndex append_elsewhere(std::uint64_t address, std::uint64_t size);
  void open_region();
  void close_region();

  AddressSpace& space_;
  std::vector<AddressSpace::Tag> tags_together_;  // Of blocks that are appended together, and the gaps before them.
  std::vector<AddressSpace::TagIndex> regions_;   // In order.
  std::size_t at_ = 0;
  AddressSpace::TagIndex rest_ = AddressSpace::no_tag;  // The free chunk at the end of the region at hand.
  std::uint64_t cursor_ = 0;                            // Where it begins by now.
  AddressSpace::TagIndex last_ = AddressSpace::no_tag;  // The chunk before it, or the region.
  // Free pieces between blocks, of which the tables learn at the end: where they begin, and how large they are.
  std::vector<std::pair<std::uint64_t, AddressSpace::TagIndex>> gaps_;
  std::vector<std::uint64_t> gap_sizes_;
  std::vector<AddressSpace::TagIndex> unneeded_;  // Of regions that have no room left.
};

}  // namespace hbmscope
