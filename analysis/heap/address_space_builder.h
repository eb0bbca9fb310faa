// A space built anew from a list of what another one held: its regions, then its blocks in the order of addresses. No
// block looks for its place, so that this costs a tenth of taking them one by one.
#pragma once

#include <cstddef>
#include <cstdint>
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

  // One that does not lie behind the block before, within one region, becomes loose.
  BlockIndex append(std::uint64_t address, std::uint64_t size);
  void finish();

 private:
  // Behind the chunk before the rest of the region.
  AddressSpace::TagIndex add_tag(AddressRange range, AddressSpace::Kind kind);
  void open_region();
  void close_region();

  AddressSpace& space_;
  std::vector<AddressSpace::TagIndex> regions_;  // In order.
  std::size_t at_ = 0;
  AddressSpace::TagIndex rest_ = AddressSpace::no_tag;  // The free chunk at the end of the region at hand.
  std::uint64_t cursor_ = 0;                            // Where it begins by now.
  AddressSpace::TagIndex last_ = AddressSpace::no_tag;  // The chunk before it, or the region.
  std::vector<std::pair<std::uint64_t, AddressSpace::TagIndex>>
      gaps_;  // Of which the table of starts learns at the end.
};

}  // namespace hbmscope
