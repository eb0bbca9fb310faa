#include "analysis/read/torch/torch_history.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>

#include "analysis/heap/address_space.h"

namespace hbmscope {
namespace {

constexpr std::uint64_t block_granularity = 512, small_request_max = std::uint64_t{1} << 20;

std::uint64_t rounded(std::uint64_t bytes) {
  if (bytes > AddressSpace::bytes_max - block_granularity) return bytes;
  return std::max<std::uint64_t>(1, (bytes + block_granularity - 1) / block_granularity) * block_granularity;
}

std::uint64_t bytes_or_0(std::int64_t bytes) {
  return bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes);
}

AddressRange range_from(std::uint64_t address, std::int64_t size) {
  const std::uint64_t end = address + bytes_or_0(size);
  return {address, end < address ? address : end};
}

Joining joining_from(bool is_expandable) {
  return is_expandable ? Joining::with_neighbours : Joining::never;
}

// Whose the regions are at a moment. What is added last has the range; so a hostile file can't make it slow.
class RegionOwners {
 public:
  struct Owner {
    std::uint64_t end = 0;
    std::uint32_t segment = TorchHistory::no_segment;
    bool is_expandable = false;
  };

  void clear() { by_begin_.clear(); }

  void add(AddressRange range, std::uint32_t segment, bool is_expandable) {
    if (range.empty()) return;
    remove(range);
    by_begin_[range.begin] = {range.end, segment, is_expandable};
  }

  void remove(AddressRange range) {
    if (range.empty()) return;
    auto at = by_begin_.upper_bound(range.begin);
    if (at != by_begin_.begin() && std::prev(at)->second.end > range.begin) --at;
    while (at != by_begin_.end() && at->first < range.end) {
      const auto [begin, owner] = *at;
      at = by_begin_.erase(at);
      if (begin < range.begin) by_begin_[begin] = {range.begin, owner.segment, owner.is_expandable};
      if (owner.end > range.end) by_begin_[range.end] = owner;
    }
  }

  // An owner without a segment where no region is.
  Owner find(std::uint64_t address) const {
    const auto after = by_begin_.upper_bound(address);
    if (after == by_begin_.begin() || std::prev(after)->second.end <= address) return {};
    return std::prev(after)->second;
  }

  // Pages that are mapped next to each other are of one expandable segment, hence of one pool: each such segment
  // reserves more addresses than the device has memory, so that it never reaches the next one.
  std::uint32_t find_segment_beside(AddressRange range) const {
    const auto above = by_begin_.lower_bound(range.end);
    if (above != by_begin_.end() && above->first == range.end && above->second.is_expandable)
      return above->second.segment;
    if (range.begin == 0) return TorchHistory::no_segment;
    const Owner below = find(range.begin - 1);
    return below.is_expandable ? below.segment : TorchHistory::no_segment;
  }

  // Pages of one segment as one region.
  std::vector<TorchInitialRegion> list() const {
    std::vector<TorchInitialRegion> regions;
    for (const auto& [begin, owner] : by_begin_) {
      TorchInitialRegion* last = regions.empty() ? nullptr : &regions.back();
      if (last != nullptr && last->is_expandable && owner.is_expandable && last->range.end == begin &&
          last->segment == owner.segment)
        last->range.end = owner.end;
      else
        regions.push_back({{begin, owner.end}, owner.segment, owner.is_expandable});
    }
    return regions;
  }

 private:
  std::map<std::uint64_t, Owner> by_begin_;
};

class Historian {
 public:
  Historian(const TorchSnapshot& snapshot, const TorchTrace& trace) : snapshot_(snapshot), trace_(trace) {
    history_.entry_size_bytes.resize(trace.size());
    history_.is_entry_size_derived.resize(trace.size());
    history_.entry_segment.resize(trace.size(), TorchHistory::no_segment);
  }

  TorchHistory compute(std::span<const std::uint32_t> segments) {
    take_in_the_end(segments);
    for (std::size_t entry = trace_.size(); entry-- > 0;) undo(entry);
    list_the_beginning();
    for (std::size_t entry = 0; entry < trace_.size(); ++entry) redo(entry);
    return std::move(history_);
  }

 private:
  struct Live {
    TorchInitialBlock block;
    BlockIndex place = BlockIndex::none;
  };

  void take_in_the_end(std::span<const std::uint32_t> of_device) {
    const TorchSegments& segments = snapshot_.segments;
    const TorchBlocks& blocks = snapshot_.blocks;
    for (const std::uint32_t segment : of_device) {
      add_region(range_from(segments.address[segment], segments.total_bytes[segment]), segment,
                 segments.is_expandable[segment] != 0);
      for (std::uint32_t i = segments.block_begin[segment]; i < segments.block_begin[segment + 1]; ++i) {
        const bool is_pending = blocks.state[i] == TorchBlockState::active_pending_free;
        if (blocks.state[i] != TorchBlockState::active_allocated && !is_pending) continue;
        TorchInitialBlock block;
        block.address = blocks.address[i];
        block.size_bytes = bytes_or_0(blocks.size_bytes[i]);
        block.requested_bytes = blocks.requested_bytes[i];
        block.segment = segment;
        block.stack = blocks.stack[i];
        block.stream = segments.stream[segment];
        block.is_pending = is_pending;
        add(block);
      }
    }
  }

  void add(const TorchInitialBlock& block) {
    const auto [found, is_new] = live_.try_emplace(block.address);
    if (!is_new) {  // Dirty data: a block over another one.
      ++history_.contradictions;
      space_.give_back(found->second.place);
    }
    found->second = {block, space_.take(block.address, block.size_bytes)};
  }

  void add_region(AddressRange range, std::uint32_t segment, bool is_expandable) {
    space_.add_region(range, joining_from(is_expandable));
    owners_.add(range, segment, is_expandable);
  }

  void remove_region(AddressRange range) {
    space_.remove_region(range);
    owners_.remove(range);
  }

  // Backwards: what the entry did is taken back.
  void undo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const AddressRange range = range_from(address, trace_.size_bytes[entry]);
    switch (trace_.action[entry]) {
      case TorchAction::alloc: undo_alloc(entry); break;
      case TorchAction::free:
      case TorchAction::free_completed: undo_free(entry, trace_.action[entry] == TorchAction::free_completed); break;
      case TorchAction::free_requested:
        if (const auto found = live_.find(address); found != live_.end())
          found->second.block.is_pending = false;
        else
          ++history_.contradictions;
        break;
      case TorchAction::segment_alloc:
      case TorchAction::segment_map:
        history_.entry_segment[entry] = owners_.find(address).segment;
        remove_region(range);
        break;
      case TorchAction::segment_free: add_region(range, TorchHistory::no_segment, false); break;
      case TorchAction::segment_unmap: add_region(range, owners_.find_segment_beside(range), true); break;
      case TorchAction::unknown:
      case TorchAction::snapshot:
      case TorchAction::oom: break;
    }
  }

  void undo_alloc(std::size_t entry) {
    const auto found = live_.find(trace_.address[entry]);
    if (found == live_.end()) {
      ++history_.contradictions;
      return;
    }
    history_.entry_size_bytes[entry] = found->second.block.size_bytes;
    history_.is_entry_size_derived[entry] = found->second.block.is_size_derived ? 1 : 0;
    space_.give_back(found->second.place);
    live_.erase(found);
  }

  void undo_free(std::size_t entry, bool was_pending) {
    TorchInitialBlock block;
    block.address = trace_.address[entry];
    if (live_.contains(block.address)) {
      ++history_.contradictions;
      return;
    }
    block.size_bytes = rounded(bytes_or_0(trace_.size_bytes[entry]));
    block.requested_bytes = trace_.size_bytes[entry];
    block.segment = owners_.find(block.address).segment;
    block.stream = trace_.stream[entry];
    block.is_pending = was_pending;
    block.is_size_derived = true;
    add(block);
  }

  void list_the_beginning() {
    const AddressProblems& problems = space_.problems();
    history_.contradictions += problems.overlaps + problems.region_overlaps + problems.region_missing;
    history_.regions = owners_.list();
    for (const auto& [address, live] : live_) history_.blocks.push_back(live.block);
    std::sort(history_.blocks.begin(), history_.blocks.end(),
              [](const TorchInitialBlock& a, const TorchInitialBlock& b) { return a.address < b.address; });
    // Forward from here, with the regions and blocks of the beginning.
    space_.clear(RegionsAre::told);
    owners_.clear();
    live_.clear();
    for (const TorchInitialRegion& region : history_.regions)
      add_region(region.range, region.segment, region.is_expandable);
    for (const TorchInitialBlock& block : history_.blocks) add(block);
  }

  // Forwards: the free pieces are known now, so the derived sizes can be.
  void redo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const AddressRange range = range_from(address, trace_.size_bytes[entry]);
    std::uint32_t& segment = history_.entry_segment[entry];
    switch (trace_.action[entry]) {
      case TorchAction::alloc: redo_alloc(entry); break;
      case TorchAction::free_requested:
      case TorchAction::free:
      case TorchAction::free_completed: redo_free(entry); break;
      case TorchAction::segment_alloc: add_region(range, segment, false); break;
      case TorchAction::segment_map: add_region(range, segment, true); break;
      case TorchAction::segment_free:
      case TorchAction::segment_unmap:
        segment = owners_.find(address).segment;
        remove_region(range);
        break;
      case TorchAction::unknown:
      case TorchAction::snapshot:
      case TorchAction::oom: break;
    }
  }

  void redo_free(std::size_t entry) {
    const auto found = live_.find(trace_.address[entry]);
    if (found == live_.end()) {
      history_.entry_segment[entry] = owners_.find(trace_.address[entry]).segment;
      return;
    }
    history_.entry_segment[entry] = found->second.block.segment;
    if (trace_.action[entry] == TorchAction::free_requested) return;
    space_.give_back(found->second.place);
    live_.erase(found);
  }

  void redo_alloc(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    if (const auto found = live_.find(address);
        found != live_.end()) {  // Its free is missing; noticed on the way back.
      space_.give_back(found->second.place);
      live_.erase(found);
    }
    std::uint64_t& size = history_.entry_size_bytes[entry];
    if (size == 0) {  // It contradicts the end; still, it was asked for.
      size = rounded(bytes_or_0(trace_.size_bytes[entry]));
      history_.is_entry_size_derived[entry] = 1;
    }
    const RegionOwners::Owner owner = owners_.find(address);
    if (history_.is_entry_size_derived[entry] != 0) {
      const auto chunk = space_.find(address);
      if (chunk && chunk->state == ChunkState::free && chunk->range.begin == address && chunk->range.size() > size &&
          !would_split(size, chunk->range.size() - size, owner.is_expandable))
        size = chunk->range.size();
    }
    TorchInitialBlock block;
    block.address = address;
    block.size_bytes = size;
    block.segment = history_.entry_segment[entry] = owner.segment;
    add(block);
  }

  static bool would_split(std::uint64_t size, std::uint64_t remaining, bool is_expandable) {
    if (size <= small_request_max || is_expandable) return remaining >= block_granularity;
    return remaining > small_request_max;
  }

  const TorchSnapshot& snapshot_;
  const TorchTrace& trace_;
  AddressSpace space_;
  RegionOwners owners_;
  std::unordered_map<std::uint64_t, Live> live_;
  TorchHistory history_;
};

}  // namespace

TorchHistory compute_torch_history(const TorchSnapshot& snapshot, const TorchTrace& trace,
                                   std::span<const std::uint32_t> segments) {
  return Historian(snapshot, trace).compute(segments);
}

}  // namespace hbmscope
