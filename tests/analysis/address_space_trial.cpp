#include "tests/analysis/address_space_trial.h"

#include <algorithm>

namespace hbmscope {
namespace {

constexpr std::uint64_t unit = 256;
constexpr std::uint64_t universe_units = 1024;  // Small, so that events meet.

}  // namespace

void NaiveAddressSpace::add_region(AddressRange range, Joining joining) {
  if (range.empty()) {
    ++problems.region_sizes;
    return;
  }
  std::vector<AddressRange> pieces = {range};
  for (const Region& region : regions_) {
    if (region.range.overlaps(range) && pieces.back().end == range.end) {
      const AddressRange last = pieces.back();
      pieces.back() = {last.begin, region.range.begin};
      pieces.push_back({region.range.end, range.end});
    }
  }
  if (pieces.size() > 1) ++problems.region_overlaps;
  for (const AddressRange piece : pieces) {
    if (piece.empty()) continue;
    std::uint64_t all = 0;
    for (const Region& region : regions_) all += region.range.size();
    if (piece.size() > AddressSpace::bytes_max - all) {
      ++problems.region_sizes;
      continue;
    }
    regions_.push_back({piece, joining});
    std::sort(regions_.begin(), regions_.end(),
              [](const Region& a, const Region& b) { return a.range.begin < b.range.begin; });
  }
  for (std::size_t i = 1; i < regions_.size();) {
    Region& before = regions_[i - 1];
    const bool join = before.range.end == regions_[i].range.begin && before.joining == Joining::with_neighbours &&
                      regions_[i].joining == Joining::with_neighbours;
    if (!join) {
      ++i;
      continue;
    }
    before.range.end = regions_[i].range.end;
    regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void NaiveAddressSpace::remove_region(AddressRange range) {
  std::uint64_t removed = 0;
  std::vector<Region> left;
  for (const Region& region : regions_) {
    const AddressRange cut = region.range.intersection(range);
    if (cut.empty()) {
      left.push_back(region);
      continue;
    }
    removed += cut.size();
    if (region.range.begin < cut.begin) left.push_back({{region.range.begin, cut.begin}, region.joining});
    if (cut.end < region.range.end) left.push_back({{cut.end, region.range.end}, region.joining});
    std::erase_if(placed_, [&](const auto& block) {
      const AddressRange block_range{block.first, block.second.end};
      if (!block_range.overlaps(cut)) return false;
      ++problems.blocks_removed;
      loose_[block.second.id] = block_range;
      return true;
    });
  }
  regions_ = left;
  if (range.empty() || removed < range.size()) ++problems.region_missing;
}

bool NaiveAddressSpace::overlaps_block(AddressRange range) const {
  for (const auto& [begin, block] : placed_)
    if (begin < range.end && range.begin < block.end) return true;
  return false;
}

NaiveAddressSpace::Id NaiveAddressSpace::take(std::uint64_t address, std::uint64_t size) {
  const Id id = next_++;
  if (size == 0 || address + size < address || size > AddressSpace::bytes_max - in_use_bytes_) {
    ++(size == 0 ? problems.zero_sizes : problems.impossible_sizes);
    loose_[id] = {address, address};
    return id;
  }
  const AddressRange range{address, address + size};
  in_use_bytes_ += size;
  const bool inside =
      std::any_of(regions_.begin(), regions_.end(), [&](const Region& each) { return each.range.contains(range); });
  if (inside && !overlaps_block(range)) {
    placed_[address] = {range.end, id};
    return id;
  }
  ++(inside ? problems.overlaps : problems.outside);
  loose_[id] = range;
  return id;
}

void NaiveAddressSpace::give_back(Id id) {
  const AddressRange range = range_of(id);
  in_use_bytes_ -= range.size();
  if (loose_.erase(id) == 0) placed_.erase(range.begin);
}

AddressRange NaiveAddressSpace::range_of(Id id) const {
  if (const auto found = loose_.find(id); found != loose_.end()) return found->second;
  for (const auto& [begin, block] : placed_)
    if (block.id == id) return {begin, block.end};
  return {};
}

std::vector<NaiveAddressSpace::Chunk> NaiveAddressSpace::chunks() const {
  std::vector<Chunk> result;
  result.reserve(2 * placed_.size() + regions_.size());
  for (const Region& region : regions_) {
    std::uint64_t at = region.range.begin;
    for (auto block = placed_.lower_bound(at); block != placed_.end() && block->first < region.range.end; ++block) {
      if (at < block->first) result.push_back({{at, block->first}, no_block});
      result.push_back({{block->first, block->second.end}, block->second.id});
      at = block->second.end;
    }
    if (at < region.range.end) result.push_back({{at, region.range.end}, no_block});
  }
  return result;
}

void AddressSpaceTrial::take(std::uint64_t address, std::uint64_t size) {
  live_.push_back({space_.take(address, size), naive_.take(address, size)});
}

void AddressSpaceTrial::take_in_gap(const Draw& draw) {
  std::vector<AddressRange> gaps;
  gaps.reserve(expected_.size());
  for (const auto& chunk : expected_)
    if (chunk.block == NaiveAddressSpace::no_block) gaps.push_back(chunk.range);
  if (gaps.empty()) return;
  const AddressRange gap = gaps[draw(gaps.size())];
  const std::uint64_t units = gap.size() / unit;
  if (units == 0) return take(gap.begin, gap.size());
  // Sizes that are no whole units come with dirty events only, so that many gaps are filled exactly.
  const std::uint64_t size = draw(4) == 0 ? gap.size() : (1 + draw(std::min<std::uint64_t>(units, 16))) * unit;
  if (size > gap.size()) return take(gap.begin, gap.size());
  const std::uint64_t how = draw(8);
  if (kinds_.upper_end && how < 2) return take(gap.end - size, size);
  if (kinds_.aligned && how == 2) return take(gap.begin + draw((gap.size() - size) / unit + 1) * unit, size);
  take(gap.begin, size);
}

void AddressSpaceTrial::give_back(const Draw& draw) {
  if (live_.empty()) return;
  std::swap(live_[draw(live_.size())], live_.back());
  space_.give_back(live_.back().block);
  naive_.give_back(live_.back().id);
  live_.pop_back();
}

AddressRange AddressSpaceTrial::draw_range(const Draw& draw, std::uint64_t size_max) const {
  const std::uint64_t begin = kinds_.base + draw(universe_units) * unit;
  return {begin, begin + (1 + draw(size_max)) * unit};
}

void AddressSpaceTrial::change_regions(const Draw& draw) {
  const auto& regions = naive_.regions();
  if (regions.empty() || draw(3) > 0) {
    // Half of them touch one that exists, at its end.
    AddressRange range = draw_range(draw, 128);
    if (!regions.empty() && draw(2) == 0) {
      const std::uint64_t end = regions[draw(regions.size())].range.end;
      range = {end, end + range.size()};
    }
    const Joining joining = draw(2) == 0 ? Joining::never : Joining::with_neighbours;
    space_.add_region(range, joining);
    naive_.add_region(range, joining);
    return;
  }
  const AddressRange range = draw(2) == 0 ? regions[draw(regions.size())].range : draw_range(draw, 64);
  space_.remove_region(range);
  naive_.remove_region(range);
}

void AddressSpaceTrial::do_something_dirty(const Draw& draw) {
  const std::uint64_t end_of_all = ~std::uint64_t{0};
  switch (draw(9)) {
    case 0: return take(kinds_.base + draw(universe_units) * unit, 0);
    case 1: return take(end_of_all - draw(1000), 1 + draw(2000));
    case 2: return take(draw(2) * kinds_.base, end_of_all >> draw(3));
    case 3:
      space_.give_back(draw(2) == 0 ? BlockIndex::none : BlockIndex{static_cast<std::uint32_t>(1'000'000 + draw(9))});
      ++naive_.problems.unknown_blocks;
      return;
    case 4: {
      const AddressRange range = draw_range(draw, 8);
      const AddressRange turned{range.end, draw(2) == 0 ? range.begin : range.end};
      space_.add_region(turned, Joining::never);
      naive_.add_region(turned, Joining::never);
      space_.remove_region(turned);
      naive_.remove_region(turned);
      return;
    }
    case 5: {
      const AddressRange range{draw(1000), end_of_all - draw(1000)};
      space_.add_region(range, Joining::never);
      naive_.add_region(range, Joining::never);
      return;
    }
    case 6:
      if (live_.empty()) return;
      return take(naive_.range_of(live_[draw(live_.size())].id).begin, unit);
    default: {
      const AddressRange range = draw_range(draw, 32);
      return take(range.begin + draw(2), range.size() - draw(2));
    }
  }
}

void AddressSpaceTrial::change(const Draw& draw) {
  const std::uint64_t kind = draw(64);
  if (kinds_.dirty && kind >= 62) return do_something_dirty(draw);
  if (naive_.regions().empty() || (kinds_.regions && kind >= 60)) return change_regions(draw);
  if (live_.size() >= kinds_.blocks_max || kind < 28) return give_back(draw);
  take_in_gap(draw);
}

std::string AddressSpaceTrial::difference_of_figures() const {
  std::uint64_t region_bytes = 0, free_bytes = 0, largest = 0, free_chunks = 0;
  for (const auto& region : naive_.regions()) region_bytes += region.range.size();
  for (const auto& chunk : expected_) {
    if (chunk.block != NaiveAddressSpace::no_block) continue;
    ++free_chunks;
    free_bytes += chunk.range.size();
    largest = std::max(largest, chunk.range.size());
  }
  if (space_.largest_free() != largest) return "largest_free";
  if (space_.free_bytes() != free_bytes) return "free_bytes";
  if (space_.free_chunks() != free_chunks) return "free_chunks";
  if (space_.region_bytes() != region_bytes) return "region_bytes";
  if (space_.regions() != naive_.regions().size()) return "regions";
  if (space_.in_use_bytes() != naive_.in_use_bytes()) return "in_use_bytes";
  if (space_.blocks() != naive_.blocks()) return "blocks";
  if (space_.problems() != naive_.problems) return "problems";
  return {};
}

std::string AddressSpaceTrial::difference_of_layout() const {
  std::map<NaiveAddressSpace::Id, BlockIndex> block_of;
  for (const Live& live : live_) {
    block_of[live.id] = live.block;
    if (!space_.is_live(live.block) || static_cast<std::size_t>(live.block) >= space_.block_index_bound())
      return "is_live";
    if (space_.is_loose(live.block) != (naive_.loose().count(live.id) > 0)) return "is_loose";
    if (space_.range_of(live.block) != naive_.range_of(live.id)) return "range_of";
  }
  std::vector<HeapChunk> chunks;
  space_.for_each_chunk([&](const HeapChunk& chunk) { chunks.push_back(chunk); });
  if (chunks.size() != expected_.size()) return "number of chunks";
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const HeapChunk& chunk = chunks[i];
    if (chunk.range != expected_[i].range) return "range of a chunk";
    if ((chunk.state == ChunkState::block) != (expected_[i].block != NaiveAddressSpace::no_block))
      return "state of a chunk";
    if (chunk.state == ChunkState::block && chunk.block != block_of[expected_[i].block]) return "block of a chunk";
    const auto found = space_.find(chunk.range.begin + chunk.range.size() / 2);
    if (!found || found->range != chunk.range || found->block != chunk.block) return "find";
    const auto next = space_.find(chunk.range.end);
    const bool touches = i + 1 < chunks.size() && chunks[i + 1].range.begin == chunk.range.end;
    if (next.has_value() != touches || (next && next->range != chunks[i + 1].range)) return "find behind a chunk";
  }
  std::vector<AddressRange> regions;
  space_.for_each_region([&](AddressRange range) { regions.push_back(range); });
  for (std::size_t i = 0; i < regions.size(); ++i)
    if (regions[i] != naive_.regions()[i].range) return "range of a region";
  const auto loose = space_.loose_blocks();
  if (loose.size() != naive_.loose().size()) return "number of loose blocks";
  for (std::size_t i = 1; i < loose.size(); ++i)
    if (space_.range_of(loose[i - 1]).begin > space_.range_of(loose[i]).begin) return "order of loose blocks";
  return {};
}

}  // namespace hbmscope
