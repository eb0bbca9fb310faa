#include "analysis/heap/address_space.h"

#include <algorithm>

namespace hbmscope {

void AddressSpace::clear(RegionsAre regions) {
  tags_.clear();
  unused_ = no_tag;
  starts_.clear();
  sizes_.clear();
  regions_.clear();
  ends_.clear();
  has_ends_ = false;
  knows_regions_ = regions == RegionsAre::reported;
  blocks_ = 0;
  in_use_bytes_ = region_bytes_ = free_bytes_ = 0;
  problems_ = {};
}

void AddressSpace::forget_regions() {
  for (TagIndex tag = 0; tag < tags_.size(); ++tag) {
    if (tags_[tag].kind == Kind::block)
      tags_[tag].kind = Kind::loose;
    else if (tags_[tag].kind == Kind::region || tags_[tag].kind == Kind::free)
      recycle(tag);
  }
  starts_.clear();
  sizes_.clear();
  regions_.clear();
  ends_.clear();
  has_ends_ = knows_regions_ = false;
  region_bytes_ = free_bytes_ = 0;
}

// --- tags ---

// Sets field by field, here and elsewhere: copying a whole tag right after writing its fields would stall the processor
// on its own stores.
AddressSpace::TagIndex AddressSpace::new_tag(AddressRange range, Kind kind) {
  TagIndex index = unused_;
  if (index == no_tag) {
    index = static_cast<TagIndex>(tags_.size());  // 2^32 tags would take 128 GiB.
    tags_.emplace_back();
  } else {
    unused_ = tags_[index].next;
    if (unused_ != no_tag) __builtin_prefetch(&tags_[unused_]);
  }
  Tag& tag = tags_[index];
  tag.begin = range.begin;
  tag.end = range.end;
  tag.kind = kind;
  return index;
}

void AddressSpace::recycle(TagIndex tag) {
  tags_[tag].kind = Kind::unused;
  tags_[tag].next = unused_;
  unused_ = tag;
}

void AddressSpace::link_after(TagIndex before, TagIndex tag) {
  const TagIndex next = tags_[before].next;
  tags_[tag].previous = before;
  tags_[tag].next = next;
  tags_[before].next = tag;
  tags_[next].previous = tag;
}

// --- blocks ---

BlockIndex AddressSpace::take(std::uint64_t address, std::uint64_t size) {
  // One comparison rejects both a size of 0 and sizes beyond the bound.
  if (size - 1 >= bytes_max - in_use_bytes_) return take_impossible(address, size);
  const AddressTable::Slot start = starts_.find(address);
  const TagIndex free = starts_.value(start);
  if (free == AddressTable::none || size > tags_[free].end - address) return take_elsewhere(address, size);
  ++blocks_;
  in_use_bytes_ += size;
  return BlockIndex{take_from_begin(free, start, size)};
}

AddressSpace::TagIndex AddressSpace::take_from_begin(TagIndex free, AddressTable::Slot start, std::uint64_t size) {
  starts_.erase_at(start);
  free_bytes_ -= size;
  const std::uint64_t begin = tags_[free].begin, end = tags_[free].end, middle = begin + size;
  if (middle == end) {
    sizes_.remove(tags_[free].place);
    if (has_ends_) ends_.erase(end);
    tags_[free].kind = Kind::block;
    return free;
  }
  // The remainder keeps the tag, so the index of ends does not change.
  const TagIndex block = new_tag({begin, middle}, Kind::block);
  link_after(tags_[free].previous, block);
  tags_[free].begin = middle;
  starts_.insert(middle, free);
  sizes_.set(tags_[free].place, end - middle);
  return block;
}

AddressSpace::TagIndex AddressSpace::take_inside(TagIndex free, AddressRange block_range) {
  const std::uint64_t begin = tags_[free].begin, end = tags_[free].end;
  if (begin == block_range.begin) return take_from_begin(free, starts_.find(begin), block_range.size());
  free_bytes_ -= block_range.size();
  const TagIndex block = new_tag(block_range, Kind::block);
  link_after(free, block);
  tags_[free].end = block_range.begin;
  sizes_.set(tags_[free].place, block_range.begin - begin);
  if (has_ends_) ends_.rename(end, block_range.begin);
  if (block_range.end == end) return block;
  const TagIndex upper = new_tag({block_range.end, end}, Kind::free);
  link_after(block, upper);
  tags_[upper].place = sizes_.add(end - block_range.end);
  starts_.insert(block_range.end, upper);
  if (has_ends_) ends_.insert(end, upper);
  return block;
}

BlockIndex AddressSpace::take_elsewhere(std::uint64_t address, std::uint64_t size) {
  if (address + size < address) return take_impossible(address, size);
  if (knows_regions_) {
    const AddressRange range{address, address + size};
    const TagIndex free = find_free(address);
    if (free != no_tag && range.end <= tags_[free].end) {
      ++blocks_;
      in_use_bytes_ += size;
      return BlockIndex{take_inside(free, range)};
    }
    const TagIndex region = find_region_above(address);
    const bool is_inside = region != no_tag && range_of_tag(region).contains(range);
    ++(is_inside ? problems_.overlaps : problems_.outside);
  }
  return take_loose(address, size);
}

BlockIndex AddressSpace::take_loose(std::uint64_t address, std::uint64_t size) {
  if (size - 1 >= bytes_max - in_use_bytes_ || address + size < address) return take_impossible(address, size);
  ++blocks_;
  in_use_bytes_ += size;
  return BlockIndex{new_tag({address, address + size}, Kind::loose)};
}

BlockIndex AddressSpace::take_impossible(std::uint64_t address, std::uint64_t size) {
  ++(size == 0 ? problems_.zero_sizes : problems_.impossible_sizes);
  ++blocks_;
  return BlockIndex{new_tag({address, address}, Kind::loose)};
}

void AddressSpace::give_back(BlockIndex block) {
  if (!is_live(block)) {
    ++problems_.unknown_blocks;
    return;
  }
  const auto index = static_cast<TagIndex>(block);
  const Tag& tag = tags_[index];
  --blocks_;
  in_use_bytes_ -= tag.end - tag.begin;
  if (tag.kind == Kind::loose) return recycle(index);
  release(index);
}

void AddressSpace::release(TagIndex index) {
  if (has_ends_) tend_ends();
  Tag& tag = tags_[index];
  free_bytes_ += tag.end - tag.begin;
  Tag& before = tags_[tag.previous];
  Tag& after = tags_[tag.next];
  if (before.kind == Kind::free) {
    const TagIndex kept = tag.previous;
    const std::uint64_t old_end = before.end;
    TagIndex next = tag.next;
    before.end = tag.end;
    if (after.kind == Kind::free) {
      starts_.erase_at(starts_.find(after.begin));
      before.end = after.end;
      // Grow the larger one first, then remove the smaller one: fewer maxima have to be recomputed.
      sizes_.set(before.place, before.end - before.begin);
      sizes_.remove(after.place);
      if (has_ends_) {
        ends_.erase(old_end);
        ends_.set(after.end, kept);
      }
      next = after.next;
      recycle(tag.next);
    } else {
      sizes_.set(before.place, before.end - before.begin);
      if (has_ends_) ends_.rename(old_end, before.end);
    }
    before.next = next;
    tags_[next].previous = kept;
    recycle(index);
  } else if (after.kind == Kind::free) {
    starts_.erase_at(starts_.find(after.begin));
    starts_.insert(tag.begin, tag.next);
    after.begin = tag.begin;
    after.previous = tag.previous;
    before.next = tag.next;
    sizes_.set(after.place, after.end - after.begin);
    recycle(index);
  } else {
    tag.kind = Kind::free;
    tag.place = sizes_.add(tag.end - tag.begin);
    starts_.insert(tag.begin, index);
    if (has_ends_) ends_.insert(tag.end, index);
  }
}

// --- the ordered index of free chunks ---

void AddressSpace::build_ends() {
  for (TagIndex tag = 0; tag < tags_.size(); ++tag)
    if (tags_[tag].kind == Kind::free) ends_.insert(tags_[tag].end, tag);
  has_ends_ = true;
  since_ends_were_needed_ = 0;
}

// Rebuilding the index costs as much as a few changes to every free chunk. After that many changes without a lookup it
// costs more than it saves.
void AddressSpace::tend_ends() {
  if (++since_ends_were_needed_ < 4096 + tags_.size()) return;
  ends_.clear();
  has_ends_ = false;
}

AddressSpace::TagIndex AddressSpace::find_free(std::uint64_t address) {
  if (!has_ends_) build_ends();
  since_ends_were_needed_ = 0;
  const auto above = ends_.find_first_above(address);
  return above && tags_[above->value].begin <= address ? above->value : no_tag;
}

// --- lookup ---

bool AddressSpace::is_live(BlockIndex block) const {
  const auto index = static_cast<TagIndex>(block);
  return index < tags_.size() && (tags_[index].kind == Kind::block || tags_[index].kind == Kind::loose);
}

bool AddressSpace::is_loose(BlockIndex block) const {
  return tags_[static_cast<TagIndex>(block)].kind == Kind::loose;
}

HeapChunk AddressSpace::chunk(TagIndex index) const {
  const Tag& tag = tags_[index];
  if (tag.kind == Kind::free) return {range_of_tag(index), ChunkState::free, BlockIndex::none};
  return {range_of_tag(index), ChunkState::block, BlockIndex{index}};
}

AddressSpace::TagIndex AddressSpace::find_region_above(std::uint64_t address) const {
  const auto above = regions_.find_first_above(address);
  return above ? above->value : no_tag;
}

// Walks from both ends at once: cutting pages out of a region one by one then costs n log n in total, wherever they
// lie.
AddressSpace::TagIndex AddressSpace::chunk_at(TagIndex region, std::uint64_t address) const {
  TagIndex low = tags_[region].next, high = tags_[region].previous;
  if (has_ends_) {
    const auto above = ends_.find_first_above(address);
    if (above && tags_[above->value].begin < tags_[region].end) high = above->value;
    const auto before = ends_.find_last_not_above(address);
    if (before && tags_[before->value].begin >= tags_[region].begin) low = before->value;
  }
  for (;; low = tags_[low].next, high = tags_[high].previous) {
    if (tags_[low].end > address) return low;
    if (tags_[high].begin <= address) return high;
  }
}

std::optional<HeapChunk> AddressSpace::find(std::uint64_t address) const {
  if (const TagIndex free = starts_.value(starts_.find(address)); free != AddressTable::none) return chunk(free);
  const TagIndex region = find_region_above(address);
  if (region == no_tag || !range_of_tag(region).contains(address)) return std::nullopt;
  return chunk(chunk_at(region, address));
}

std::vector<BlockIndex> AddressSpace::loose_blocks() const {
  std::vector<BlockIndex> result;
  for (TagIndex tag = 0; tag < tags_.size(); ++tag)
    if (tags_[tag].kind == Kind::loose) result.push_back(BlockIndex{tag});
  std::stable_sort(result.begin(), result.end(),
                   [&](BlockIndex a, BlockIndex b) { return range_of(a).begin < range_of(b).begin; });
  return result;
}

}  // namespace hbmscope
