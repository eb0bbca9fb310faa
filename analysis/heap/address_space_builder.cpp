#include "analysis/heap/address_space_builder.h"

#include <algorithm>
#include <array>

namespace hbmscope {

AddressSpaceBuilder::AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_blocks)
    : space_(space), tags_together_(2 * together_max) {
  space.tags_.reserve(space.tags_.size() + blocks + free_blocks);
  space.sizes_.reserve(space.sizes_.first_new_place() + free_blocks);
  gaps_.reserve(free_blocks);
  gap_sizes_.reserve(free_blocks);
  space.regions_.for_each([&](const OrderedAddresses::Entry& entry) { regions_.push_back(entry.value); });
}

// Takes the region's free chunk out of the table of starts; what remains of it is inserted again later.
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

// Whether there is a gap before a block is unpredictable, so the gap is always written, without a branch.
std::size_t AddressSpaceBuilder::append_in_region(std::span<Block> blocks) {
  using Kind = AddressSpace::Kind;
  using TagIndex = AddressSpace::TagIndex;
  if (rest_ == AddressSpace::no_tag) return 0;
  const std::uint64_t region_end = space_.tags_[rest_].end;
  const auto first_tag = static_cast<TagIndex>(space_.tags_.size());
  const std::uint32_t first_place = space_.sizes_.first_new_place() + static_cast<std::uint32_t>(gaps_.size());
  AddressSpace::Tag* const tags = tags_together_.data();
  std::array<std::uint32_t, together_max + 1> gap_tags;  // By number of the gap, counted from the first tag.
  std::uint64_t cursor = cursor_, in_use = space_.in_use_bytes_;
  std::uint32_t tag = 0, gap = 0;
  std::size_t count = 0;
  const auto write = [&](std::uint64_t begin, std::uint64_t end, std::uint32_t place, Kind kind) {
    tags[tag] = {begin, end, first_tag + tag - 1, first_tag + tag + 1, place, kind, Joining::never};
  };
  for (; count < std::min(blocks.size(), together_max); ++count) {
    Block& block = blocks[count];
    const std::uint64_t address = block.address, size = block.size;
    // One comparison rejects addresses that are too low or too high, another sizes that are 0 or too large.
    if (address - cursor > region_end - cursor) break;
    if (size - 1 >= std::min(region_end - address, AddressSpace::bytes_max - in_use)) break;
    write(cursor, address, first_place + gap, Kind::free);
    gap_tags[gap] = tag;
    const std::uint32_t has_gap = cursor < address ? 1 : 0;
    gap += has_gap;
    tag += has_gap;
    cursor = address + size;
    in_use += size;
    write(address, cursor, 0, Kind::block);
    block.place = BlockIndex{first_tag + tag++};
  }
  if (count == 0) return 0;
  for (std::uint32_t i = 0; i < gap; ++i) {
    const AddressSpace::Tag& free = tags[gap_tags[i]];
    gaps_.emplace_back(free.begin, first_tag + gap_tags[i]);
    gap_sizes_.push_back(free.end - free.begin);
  }
  // The last tag is followed by whatever comes next, or by the rest of the region when the region is closed.
  tags[0].previous = last_;
  space_.tags_.insert(space_.tags_.end(), tags, tags + tag);
  space_.tags_[last_].next = first_tag;
  // Prefetch the next tags: the hardware prefetcher does not cross a page boundary.
  const std::size_t room = space_.tags_.capacity() - space_.tags_.size();
  for (std::size_t i = 0; i < std::min<std::size_t>(tag, room); i += 2)
    __builtin_prefetch(space_.tags_.data() + space_.tags_.size() + i, 1);
  last_ = first_tag + tag - 1;
  cursor_ = cursor;
  space_.free_bytes_ -= in_use - space_.in_use_bytes_;
  space_.in_use_bytes_ = in_use;
  space_.blocks_ += count;
  return count;
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
