#include "analysis/heap/address_space_builder.h"

#include <algorithm>

namespace hbmscope {

AddressSpaceBuilder::AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_pieces)
    : space_(space) {
  space.tags_.reserve(space.tags_.size() + blocks + free_pieces + 2 * together_max);
  space.sizes_.reserve(space.sizes_.first_new_place() + free_pieces);
  gaps_.reserve(free_pieces + together_max);
  gap_sizes_.reserve(free_pieces + together_max);
  space.regions_.for_each([&](const OrderedAddresses::Entry& entry) { regions_.push_back(entry.value); });
}

// Its free chunk is taken out of the table of starts and goes back in as what is left of it.
void AddressSpaceBuilder::open_region() {
  rest_ = space_.tags_[regions_[at_]].next;
  cursor_ = space_.tags_[rest_].begin;
  last_ = space_.tags_[rest_].previous;
  space_.starts_.erase_at(space_.starts_.find(cursor_));
}

void AddressSpaceBuilder::close_region() {
  if (rest_ != AddressSpace::no_tag) {
    AddressSpace::Tag& rest = space_.tags_[rest_];
    rest.previous = last_;
    space_.tags_[last_].next = rest_;
    if (cursor_ == rest.end) {
      space_.sizes_.remove(rest.place);
      space_.tags_[rest.previous].next = rest.next;
      space_.tags_[rest.next].previous = rest.previous;
      unneeded_.push_back(rest_);
    } else {
      rest.begin = cursor_;
      space_.sizes_.set(rest.place, rest.end - cursor_);
      space_.starts_.insert(cursor_, rest_);
    }
    rest_ = AddressSpace::no_tag;
  }
  ++at_;
}

void AddressSpaceBuilder::append(std::span<Block> blocks) {
  for (std::size_t at = 0; at < blocks.size();) {
    const std::size_t appended = append_in_region(blocks.subspan(at));
    at += appended;
    if (appended > 0 || at == blocks.size()) continue;
    blocks[at].place = append_elsewhere(blocks[at].address, blocks[at].size);
    ++at;
  }
}

// Whether there is a gap before a block cannot be foreseen: its tag is written in any case, and there is no branch on it.
std::size_t AddressSpaceBuilder::append_in_region(std::span<Block> blocks) {
  if (rest_ == AddressSpace::no_tag) return 0;
  using Kind = AddressSpace::Kind;
  using TagIndex = AddressSpace::TagIndex;
  std::size_t count = std::min(blocks.size(), together_max);
  const std::uint64_t end = space_.tags_[rest_].end;
  while (count > 1 && blocks[count - 1].address >= end) count /= 2;  // Small regions: do not make tags for nothing.
  const std::size_t first_tag = space_.tags_.size(), first_gap = gaps_.size();
  space_.tags_.resize(first_tag + 2 * count);
  gaps_.resize(first_gap + count);
  gap_sizes_.resize(first_gap + count);
  AddressSpace::Tag* const tags = space_.tags_.data();
  const auto first_place = static_cast<std::uint32_t>(space_.sizes_.first_new_place());
  std::uint64_t cursor = cursor_, in_use = space_.in_use_bytes_;
  std::size_t tag = first_tag, gap = first_gap, done = 0;
  for (; done < count; ++done) {
    const std::uint64_t address = blocks[done].address, size = blocks[done].size;
    if (address - cursor > end - cursor) break;
    // One comparison for sizes of 0 and for those that do not fit.
    if (size - 1 >= std::min(end - address, AddressSpace::bytes_max - in_use)) break;
    const auto free = static_cast<TagIndex>(tag);
    tags[tag] = {cursor, address, free - 1, free + 1, first_place + static_cast<std::uint32_t>(gap), Kind::free,
                 Joining::never};
    gaps_[gap] = {cursor, free};
    gap_sizes_[gap] = address - cursor;
    gap += cursor < address ? 1 : 0;
    tag += cursor < address ? 1 : 0;
    cursor = address + size;
    in_use += size;
    const auto block = static_cast<TagIndex>(tag++);
    tags[block] = {address, cursor, block - 1, block + 1, 0, Kind::block, Joining::never};
    blocks[done].place = BlockIndex{block};
  }
  space_.tags_.resize(tag);
  gaps_.resize(gap);
  gap_sizes_.resize(gap);
  if (done == 0) return 0;
  // Behind the last one is what follows next, or the rest of the region when that is closed.
  tags[first_tag].previous = last_;
  tags[last_].next = static_cast<TagIndex>(first_tag);
  last_ = static_cast<TagIndex>(tag - 1);
  cursor_ = cursor;
  space_.free_bytes_ -= in_use - space_.in_use_bytes_;
  space_.in_use_bytes_ = in_use;
  space_.blocks_ += done;
  return done;
}

BlockIndex AddressSpaceBuilder::append_elsewhere(std::uint64_t address, std::uint64_t size) {
  while (at_ < regions_.size() && space_.tags_[regions_[at_]].end <= address) close_region();
  if (at_ < regions_.size() && rest_ == AddressSpace::no_tag) open_region();
  Block block{address, size};
  return append_in_region(std::span(&block, 1)) == 1 ? block.place : space_.take_loose(address, size);
}

void AddressSpaceBuilder::finish() {
  while (at_ < regions_.size()) close_region();
  space_.starts_.insert_all(gaps_);
  space_.sizes_.append(gap_sizes_);
  for (const AddressSpace::TagIndex tag : unneeded_) space_.recycle(tag);
  gaps_.clear();
  gap_sizes_.clear();
  unneeded_.clear();
}

}  // namespace hbmscope
