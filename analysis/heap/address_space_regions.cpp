// Regions change about once per thousand block events, so this half of AddressSpace is written to be short.
#include "analysis/heap/address_space.h"

namespace hbmscope {

void AddressSpace::add_region(AddressRange range, Joining joining) {
  knows_regions_ = true;
  if (range.empty()) {
    ++problems_.region_sizes;
    return;
  }
  bool overlaps = false;
  while (!range.empty()) {
    const TagIndex above = find_region_above(range.begin);
    AddressRange piece = range;
    range.begin = range.end;
    if (above != no_tag && tags_[above].begin < piece.end) {
      overlaps = true;
      piece.end = tags_[above].begin;
      range.begin = tags_[above].end;
    }
    if (!piece.empty()) add_new_region(piece, joining);
  }
  if (overlaps) ++problems_.region_overlaps;
}

// The range starts as a taken chunk of its region and is then freed, which merges it with its free neighbours.
void AddressSpace::add_new_region(AddressRange range, Joining joining) {
  if (range.size() > bytes_max - region_bytes_) {
    ++problems_.region_sizes;
    return;
  }
  region_bytes_ += range.size();
  TagIndex lower = no_tag, upper = no_tag;
  if (joining == Joining::with_neighbours) {
    const auto joins = [&](const std::optional<OrderedAddresses::Entry>& entry) {
      return entry && tags_[entry->value].joining == Joining::with_neighbours;
    };
    const auto below = regions_.find_last_not_above(range.begin);
    if (joins(below) && below->address == range.begin) lower = below->value;
    const auto above = regions_.find_first_above(range.begin);
    if (joins(above) && tags_[above->value].begin == range.end) upper = above->value;
  }

  const TagIndex added = new_tag(range, Kind::block);
  if (lower != no_tag) {
    link_after(tags_[lower].previous, added);
    if (upper == no_tag) {
      regions_.rename(range.begin, range.end);
      tags_[lower].end = range.end;
    } else {
      // The upper region's ring is spliced into the lower one's.
      const TagIndex first = tags_[upper].next, last = tags_[upper].previous;
      const std::uint64_t end = tags_[upper].end;
      tags_[added].next = first;
      tags_[first].previous = added;
      tags_[last].next = lower;
      tags_[lower].previous = last;
      tags_[lower].end = end;
      regions_.erase(range.begin);
      regions_.set(end, lower);
      recycle(upper);
    }
  } else if (upper != no_tag) {
    link_after(upper, added);
    tags_[upper].begin = range.begin;
  } else {
    const TagIndex region = new_tag(range, Kind::region);
    tags_[region].joining = joining;
    tags_[region].previous = tags_[region].next = region;
    link_after(region, added);
    regions_.insert(range.end, region);
  }
  release(added);
}

void AddressSpace::remove_region(AddressRange range) {
  bool misses = range.empty();
  while (!range.empty()) {
    const TagIndex above = find_region_above(range.begin);
    if (above == no_tag || tags_[above].begin >= range.end) {
      misses = true;
      break;
    }
    const AddressRange cut = range.intersection(range_of_tag(above));
    if (cut.begin > range.begin) misses = true;
    cut_region(above, cut);
    range.begin = cut.end;
  }
  if (misses) ++problems_.region_missing;
}

void AddressSpace::cut_region(TagIndex region, AddressRange cut) {
  const AddressRange whole = range_of_tag(region);
  TagIndex at = tags_[region].next;
  if (cut.begin != whole.begin) {
    find_free(cut.begin);  // Builds the ordered index: pages are unmapped from the middle of large regions.
    at = chunk_at(region, cut.begin);
  }
  const TagIndex first = empty_chunk(at, cut);
  TagIndex last = first;
  while (tags_[last].end < cut.end) last = empty_chunk(tags_[last].next, cut);

  region_bytes_ -= cut.size();
  const TagIndex before = tags_[first].previous, after = tags_[last].next;
  tags_[before].next = after;
  tags_[after].previous = before;
  for (TagIndex tag = first; tag != after;) {
    const TagIndex next = tags_[tag].next;
    recycle(tag);
    tag = next;
  }

  if (cut.end == whole.end) {
    if (cut.begin == whole.begin) {
      regions_.erase(whole.end);
      recycle(region);
    } else {
      regions_.rename(whole.end, cut.begin);
      tags_[region].end = cut.begin;
    }
    return;
  }
  if (cut.begin == whole.begin) {
    tags_[region].begin = cut.end;
    return;
  }
  // Two regions remain. The lower one gets a new tag; the upper one keeps the region's tag and with it its place in the
  // order.
  const TagIndex lower = new_tag({whole.begin, cut.begin}, Kind::region), first_below = tags_[region].next;
  tags_[lower].joining = tags_[region].joining;
  tags_[lower].next = first_below;
  tags_[first_below].previous = lower;
  tags_[lower].previous = before;
  tags_[before].next = lower;
  tags_[region].next = after;
  tags_[after].previous = region;
  tags_[region].begin = cut.end;
  regions_.insert(cut.begin, lower);
}

// Returns a taken tag that covers exactly the chunk's part of the cut and no longer belongs to a block. The rest of the
// chunk, on either side, becomes free.
AddressSpace::TagIndex AddressSpace::empty_chunk(TagIndex index, AddressRange cut) {
  const AddressRange whole = range_of_tag(index), part = whole.intersection(cut);
  if (tags_[index].kind == Kind::free) return take_inside(index, part);
  const TagIndex emptied = replace_block(index);
  if (part.begin > whole.begin) {
    const TagIndex lower = new_tag({whole.begin, part.begin}, Kind::block);
    link_after(tags_[emptied].previous, lower);
    tags_[emptied].begin = part.begin;
    release(lower);
  }
  if (part.end < whole.end) {
    const TagIndex upper = new_tag({part.end, whole.end}, Kind::block);
    link_after(emptied, upper);
    tags_[emptied].end = part.end;
    release(upper);
  }
  return emptied;
}

// The block keeps its index and becomes loose; a new tag replaces it among the chunks.
AddressSpace::TagIndex AddressSpace::replace_block(TagIndex index) {
  ++problems_.blocks_removed;
  const TagIndex stand_in = new_tag(range_of_tag(index), Kind::block);
  link_after(index, stand_in);
  const TagIndex before = tags_[index].previous;
  tags_[before].next = stand_in;
  tags_[stand_in].previous = before;
  tags_[index].kind = Kind::loose;
  return stand_in;
}

}  // namespace hbmscope
