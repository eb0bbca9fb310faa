#include "analysis/read/torch/torch_history.h"

#include <algorithm>
#include <string_view>
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

class Historian {
 public:
  Historian(const TorchSnapshot& snapshot, const TorchTrace& trace)
      : snapshot_(snapshot), trace_(trace), order_(order_segments(snapshot, trace.device)) {
    history_.entry_size_bytes.resize(trace.size());
    history_.is_entry_size_derived.resize(trace.size());
  }

  TorchHistory compute() {
    take_in_the_end();
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

  void take_in_the_end() {
    const TorchSegments& segments = snapshot_.segments;
    const TorchBlocks& blocks = snapshot_.blocks;
    for (const std::uint32_t segment : order_) {
      space_.add_region(range_from(segments.address[segment], segments.total_bytes[segment]),
                        joining_from(segments.is_expandable[segment] != 0));
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
    live_[block.address] = {block, space_.take(block.address, block.size_bytes)};
  }

  // Backwards: what the entry did is taken back.
  void undo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const std::int64_t size = trace_.size_bytes[entry];
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
      case TorchAction::segment_map: space_.remove_region(range_from(address, size)); break;
      case TorchAction::segment_free: space_.add_region(range_from(address, size), Joining::never); break;
      case TorchAction::segment_unmap: space_.add_region(range_from(address, size), Joining::with_neighbours); break;
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
    block.segment = find_segment(snapshot_, order_, block.address);
    block.stream = trace_.stream[entry];
    block.is_pending = was_pending;
    block.is_size_derived = true;
    add(block);
  }

  void list_the_beginning() {
    const AddressProblems& problems = space_.problems();
    history_.contradictions += problems.overlaps + problems.region_overlaps + problems.region_missing;
    space_.for_each_region([&](AddressRange range) {
      const std::uint32_t segment = find_segment(snapshot_, order_, range.begin);
      history_.regions.push_back({range, segment, is_expandable(range.begin, segment)});
    });
    for (const auto& [address, live] : live_) history_.blocks.push_back(live.block);
    std::sort(history_.blocks.begin(), history_.blocks.end(),
              [](const TorchInitialBlock& a, const TorchInitialBlock& b) { return a.address < b.address; });
    // Forward from here, with the regions and blocks of the beginning.
    space_.clear(RegionsAre::told);
    live_.clear();
    for (const TorchInitialRegion& region : history_.regions)
      space_.add_region(region.range, joining_from(region.is_expandable));
    for (const TorchInitialBlock& block : history_.blocks) add(block);
  }

  bool is_expandable(std::uint64_t, std::uint32_t segment) const {
    if (segment != TorchHistory::no_segment) return snapshot_.segments.is_expandable[segment] != 0;
    // A range that was mapped away meanwhile: expandable if anything of this device is.
    return std::any_of(trace_.action.begin(), trace_.action.end(),
                       [](TorchAction action) { return action == TorchAction::segment_unmap; });
  }

  // Forwards: the free pieces are known now, so the derived sizes can be.
  void redo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const AddressRange range = range_from(address, trace_.size_bytes[entry]);
    switch (trace_.action[entry]) {
      case TorchAction::alloc: redo_alloc(entry); break;
      case TorchAction::free:
      case TorchAction::free_completed:
        if (const auto found = live_.find(address); found != live_.end()) {
          space_.give_back(found->second.place);
          live_.erase(found);
        }
        break;
      case TorchAction::segment_alloc: space_.add_region(range, Joining::never); break;
      case TorchAction::segment_map: space_.add_region(range, Joining::with_neighbours); break;
      case TorchAction::segment_free:
      case TorchAction::segment_unmap: space_.remove_region(range); break;
      default: break;
    }
  }

  void redo_alloc(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    std::uint64_t& size = history_.entry_size_bytes[entry];
    if (size == 0) {  // It contradicts the end; still, it was asked for.
      size = rounded(bytes_or_0(trace_.size_bytes[entry]));
      history_.is_entry_size_derived[entry] = 1;
    }
    if (history_.is_entry_size_derived[entry] != 0) {
      const auto chunk = space_.find(address);
      if (chunk && chunk->state == ChunkState::free && chunk->range.begin == address && chunk->range.size() > size &&
          !would_split(size, chunk->range.size() - size, is_in_expandable(address)))
        size = chunk->range.size();
    }
    TorchInitialBlock block;
    block.address = address;
    block.size_bytes = size;
    add(block);
  }

  bool is_in_expandable(std::uint64_t address) const {
    return is_expandable(address, find_segment(snapshot_, order_, address));
  }

  static bool would_split(std::uint64_t size, std::uint64_t remaining, bool is_expandable) {
    if (size <= small_request_max || is_expandable) return remaining >= block_granularity;
    return remaining > small_request_max;
  }

  const TorchSnapshot& snapshot_;
  const TorchTrace& trace_;
  std::vector<std::uint32_t> order_;
  AddressSpace space_;
  std::unordered_map<std::uint64_t, Live> live_;
  TorchHistory history_;
};

}  // namespace

std::vector<std::uint32_t> order_segments(const TorchSnapshot& snapshot, std::int32_t device) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < snapshot.segments.size(); ++i)
    if (snapshot.segments.device[i] == device) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return snapshot.segments.address[a] < snapshot.segments.address[b];
  });
  return order;
}

std::uint32_t find_segment(const TorchSnapshot& snapshot, const std::vector<std::uint32_t>& order,
                           std::uint64_t address) {
  const auto after = std::upper_bound(
      order.begin(), order.end(), address,
      [&](std::uint64_t wanted, std::uint32_t segment) { return wanted < snapshot.segments.address[segment]; });
  if (after == order.begin()) return TorchHistory::no_segment;
  const std::uint32_t segment = *std::prev(after);
  return range_from(snapshot.segments.address[segment], snapshot.segments.total_bytes[segment]).contains(address)
             ? segment
             : TorchHistory::no_segment;
}

TorchHistory compute_torch_history(const TorchSnapshot& snapshot, const TorchTrace& trace) {
  return Historian(snapshot, trace).compute();
}

}  // namespace hbmscope
