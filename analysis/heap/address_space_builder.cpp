#include "analysis/heap/address_space_builder.h"

#include <algorithm>
#include <array>

namespace hbmscope {

AddressSpaceBuilder::AddressSpaceBuilder(AddressSpace& space, std::size_t blocks, std::size_t free_pieces)
    : space_(space) {
  space.tags_.reserve(space.tags_.size() + blocks + free_pieces);
  space.sizes_.reserve(space.sizes_.first_new_place() + free_pieces);
  gaps_.reserve(free_pieces);
  gap_sizes_.reserve(free_pieces);
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

std::size_t AddressSpaceBuilder::count_in_region(std::span<const Block> blocks, std::size_t& gaps) const {
  if (rest_ == AddressSpace::no_tag) return 0;
  const std::uint64_t end = space_.tags_[rest_].end;
  std::uint64_t cursor = cursor_, in_use = space_.in_use_bytes_;
  std::size_t count = 0;
  for (; count < std::min(blocks.size(), together_max); ++count) {
    const std::uint64_t address = blocks[count].address, size = blocks[count].size;
    // One comparison for what begins too early and for what begins too late, one for sizes of 0 and for too large ones.
    if (address - cursor > end - cursor) break;
    if (size - 1 >= std::min(end - address, AddressSpace::bytes_max - in_use)) break;
    gaps += cursor < address ? 1 : 0;
    cursor = address + size;
    in_use += size;
  }
  return count;
}

// Whether there is a gap before a block cannot be foreseen: it is written in any case, and there is no branch on it.
std::size_t AddressSpaceBuilder::append_in_region(std::span<Block> blocks) {
  using Kind = AddressSpace::Kind;
  using TagIndex = AddressSpace::TagIndex;
  std::size_t gap_count = 0;
  const std::size_t count = count_in_region(blocks, gap_count);
  if (count == 0) return 0;
  const std::size_t first_tag = space_.tags_.size();
  space_.tags_.resize(first_tag + count + gap_count);
  AddressSpace::Tag* const tags = space_.tags_.data();
  // Those that come next: the processor itself does not look beyond the border of a page.
  const std::size_t room = space_.tags_.capacity() - space_.tags_.size();
  for (std::size_t i = 0; i < std::min(count + gap_count, room); i += 2)
    __builtin_prefetch(tags + space_.tags_.size() + i, 1);
  std::array<std::pair<std::uint64_t, TagIndex>, together_max> gaps;
  std::array<std::uint64_t, together_max> gap_sizes;
  const std::uint32_t first_place = space_.sizes_.first_new_place() + static_cast<std::uint32_t>(gaps_.size());
  std::uint64_t cursor = cursor_, in_use = 0;
  auto tag = static_cast<TagIndex>(first_tag);
  std::uint32_t gap = 0;
  const auto write = [&](std::uint64_t begin, std::uint64_t end, std::uint32_t place, Kind kind) {
    AddressSpace::Tag& written = tags[tag];
    written.begin = begin;
    written.end = end;
    written.previous = tag - 1;
    written.next = tag + 1;
    written.place = place;
    written.kind = kind;
  };
  for (Block& block : blocks.first(count)) {
    const std::uint64_t address = block.address, size = block.size;
    write(cursor, address, first_place + gap, Kind::free);
    gaps[gap] = {cursor, tag};
    gap_sizes[gap] = address - cursor;
    const std::uint32_t has_gap = cursor < address ? 1 : 0;
    gap += has_gap;
    tag += has_gap;
    cursor = address + size;
    in_use += size;
    write(address, cursor, 0, Kind::block);
    block.place = BlockIndex{tag++};
  }
  gaps_.insert(gaps_.end(), gaps.begin(), gaps.begin() + gap);
  gap_sizes_.insert(gap_sizes_.end(), gap_sizes.begin(), gap_sizes.begin() + gap);
  // Behind the last one is what follows next, or the rest of the region when that is closed.
  tags[first_tag].previous = last_;
  tags[last_].next = static_cast<TagIndex>(first_tag);
  last_ = tag - 1;
  cursor_ = cursor;
  space_.free_bytes_ -= in_use;
  space_.in_use_bytes_ += in_use;
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
