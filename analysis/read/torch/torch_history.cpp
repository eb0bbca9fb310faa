#include "analysis/read/torch/torch_history.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/heap/address_space.h"
#include "analysis/heap/address_table.h"
#include "analysis/heap/ordered_addresses.h"
#include "analysis/read/torch/open_ends.h"
#include "analysis/read/torch/size_rules.h"

namespace hbmscope {
namespace {

using torch::excess_bytes_max;
using torch::rounded_request;
using torch::would_split;

AddressRange range_from(std::uint64_t address, std::int64_t size) {
  const std::uint64_t end = address + bytes_or_0(size);
  return {address, end < address ? address : end};
}

Joining joining_from(bool is_expandable) {
  return is_expandable ? Joining::with_neighbours : Joining::never;
}

// Rows by number. The number of a removed row is reused.
template <class Row>
class ReusedRows {
 public:
  std::uint32_t add(const Row& row) {
    if (unused_.empty()) {
      rows_.push_back(row);
      return static_cast<std::uint32_t>(rows_.size() - 1);
    }
    const std::uint32_t at = unused_.back();
    unused_.pop_back();
    rows_[at] = row;
    return at;
  }
  void remove(std::uint32_t at) { unused_.push_back(at); }
  std::size_t size() const { return rows_.size(); }
  Row& operator[](std::uint32_t at) { return rows_[at]; }
  const Row& operator[](std::uint32_t at) const { return rows_[at]; }

 private:
  std::vector<Row> rows_;
  std::vector<std::uint32_t> unused_;
};

// The owner of each region at the current time. A later region replaces earlier ones in its range, so a hostile file
// can't make this slow.
class RegionOwners {
 public:
  struct Owner {
    std::uint64_t begin = 0, end = 0;
    std::uint32_t segment = TorchHistory::no_segment;
    bool is_expandable = false;
    TorchPoolId pool;  // From an entry.

    bool contains(std::uint64_t address) const { return begin <= address && address < end; }
  };

  void clear() { *this = {}; }

  void add(AddressRange range, std::uint32_t segment, bool is_expandable, TorchPoolId pool) {
    if (range.empty()) return;
    remove(range);
    insert({range.begin, range.end, segment, is_expandable, pool});
  }

  void remove(AddressRange range) {
    if (range.empty()) return;
    // First the owner that begins before the range and extends into it, then those that begin in it.
    if (const auto before = begins_.find_last_not_above(range.begin);
        before && before->address < range.begin && owners_[before->value].end > range.begin) {
      const Owner whole = owners_[before->value];
      owners_[before->value].end = range.begin;
      if (whole.end > range.end) insert({range.end, whole.end, whole.segment, whole.is_expandable, whole.pool});
    }
    for (auto at = first_from(range.begin); at && at->address < range.end; at = first_from(range.begin)) {
      const Owner owner = owners_[at->value];
      begins_.erase(at->address);
      owners_[at->value] = {};
      owners_.remove(at->value);
      if (owner.end > range.end) insert({range.end, owner.end, owner.segment, owner.is_expandable, owner.pool});
    }
  }

  // An owner without a segment if there is no region.
  Owner find(std::uint64_t address) {
    std::uint32_t& recent = recent_[address / recent_bytes % recent_.size()];
    if (recent < owners_.size() && owners_[recent].contains(address)) return owners_[recent];
    const auto found = begins_.find_last_not_above(address);
    if (!found || !owners_[found->value].contains(address)) return {};
    recent = found->value;
    return owners_[recent];
  }

  // Adjacent mapped pages belong to one expandable segment, and hence to one pool: each such segment reserves more
  // addresses than the device has memory, so it never reaches the next one.
  std::uint32_t find_adjacent_segment(AddressRange range) {
    const auto above = begins_.find_last_not_above(range.end);
    if (above && above->address == range.end && owners_[above->value].is_expandable)
      return owners_[above->value].segment;
    if (range.begin == 0) return TorchHistory::no_segment;
    const Owner below = find(range.begin - 1);
    return below.is_expandable ? below.segment : TorchHistory::no_segment;
  }

  // Merges the pages of a segment to one region.
  std::vector<TorchInitialRegion> list() const {
    std::vector<TorchInitialRegion> regions;
    begins_.for_each([&](const OrderedAddresses::Entry& entry) {
      const Owner& owner = owners_[entry.value];
      TorchInitialRegion* last = regions.empty() ? nullptr : &regions.back();
      if (last != nullptr && last->is_expandable && owner.is_expandable && last->range.end == entry.address &&
          last->segment == owner.segment && last->pool == owner.pool)
        last->range.end = owner.end;
      else
        regions.push_back({{entry.address, owner.end}, owner.segment, owner.pool, owner.is_expandable});
    });
    return regions;
  }

 private:
  std::optional<OrderedAddresses::Entry> first_from(std::uint64_t address) const {
    const auto at = begins_.find_last_not_above(address);
    return at && at->address == address ? at : begins_.find_first_above(address);
  }

  void insert(const Owner& owner) { begins_.insert(owner.begin, owners_.add(owner)); }

  OrderedAddresses begins_;  // Values are indices in owners_.
  ReusedRows<Owner> owners_;
  // A cache of owners by address, which may be outdated: every entry needs a lookup, and regions rarely change.
  static constexpr std::uint64_t recent_bytes = std::uint64_t{2} << 20;  // The smallest region.
  std::vector<std::uint32_t> recent_ = std::vector<std::uint32_t>(1 << 14);
};

// The live blocks by address.
class LiveBlocks {
 public:
  struct Live {
    TorchInitialBlock block;
    BlockIndex place = BlockIndex::none;
  };

  Live* find(std::uint64_t address) {
    const std::uint32_t at = at_.value(at_.find(address));
    return at == AddressTable::none ? nullptr : &rows_[at];
  }

  // Requires that there is no live block at this address.
  Live& add(const TorchInitialBlock& block) {
    const std::uint32_t at = rows_.add({block, BlockIndex::none});
    at_.insert(block.address, at);
    return rows_[at];
  }

  // Requires a live block there.
  void remove(std::uint64_t address) {
    const AddressTable::Slot slot = at_.find(address);
    rows_.remove(at_.value(slot));
    at_.erase_at(slot);
  }

  template <class Visit>
  void for_each(const Visit& visit) const {
    at_.for_each([&](std::uint64_t, std::uint32_t at) { visit(rows_[at].block); });
  }

  std::vector<TorchInitialBlock> list() const {
    std::vector<TorchInitialBlock> blocks;
    for_each([&](const TorchInitialBlock& block) { blocks.push_back(block); });
    std::sort(blocks.begin(), blocks.end(),
              [](const TorchInitialBlock& a, const TorchInitialBlock& b) { return a.address < b.address; });
    return blocks;
  }

  void clear() { *this = {}; }

 private:
  AddressTable at_;  // Indices in rows_.
  ReusedRows<Live> rows_;
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
    begin_again();
    for (std::size_t entry = 0; entry < trace_.size(); ++entry) redo(entry);
    const AddressProblems& problems = space_.problems();
    history_.contradictions += problems.overlaps + problems.region_overlaps + problems.region_missing;
    bound_the_peaks();
    return std::move(history_);
  }

 private:
  void take_in_the_end(std::span<const std::uint32_t> of_device) {
    const TorchSegments& segments = snapshot_.segments;
    const TorchBlocks& blocks = snapshot_.blocks;
    for (const std::uint32_t segment : of_device) {
      owners_.add(range_from(segments.address[segment], segments.total_bytes[segment]), segment,
                  segments.is_expandable[segment] != 0, {});
      for (std::uint32_t i = segments.block_begin[segment]; i < segments.block_begin[segment + 1]; ++i) {
        if (!blocks.is_active(i)) continue;
        TorchInitialBlock block;
        block.address = blocks.address[i];
        block.size_bytes = bytes_or_0(blocks.size_bytes[i]);
        block.requested_bytes = blocks.requested_bytes[i];
        block.segment = segment;
        block.stack = blocks.stack[i];
        block.stream = segments.stream[segment];
        block.user_metadata = blocks.user_metadata[i];
        block.is_pending = blocks.state[i] == TorchBlockState::active_pending_free;
        if (LiveBlocks::Live* other = live_.find(block.address)) {  // Dirty data: a block over another one.
          ++history_.contradictions;
          other->block = block;
        } else {
          live_.add(block);
        }
      }
    }
  }

  // The regions and blocks just before the first entry.
  void list_the_beginning() {
    history_.regions = owners_.list();
    history_.blocks = live_.list();
    widen_initial_blocks();
  }

  // Free space after a block was split off at some time, or else it belongs to the block. If either may be true, the
  // block's end is open.
  void widen_initial_blocks() {
    std::vector<TorchInitialBlock>& blocks = history_.blocks;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (!blocks[i].is_size_derived) continue;
      const RegionOwners::Owner owner = owners_.find(blocks[i].address);
      const std::uint64_t end = blocks[i].address + blocks[i].size_bytes;
      const std::uint64_t next = std::min(i + 1 < blocks.size() ? blocks[i + 1].address : owner.end, owner.end);
      if (next <= end) continue;
      if (!would_split(blocks[i].size_bytes, next - end, owner.is_expandable)) {
        blocks[i].size_bytes += next - end;
        continue;
      }
      blocks[i].excess_bytes_max = excess_bytes_max(blocks[i].size_bytes, next - end, owner.is_expandable);
      if (blocks[i].excess_bytes_max > 0) open_ends_.add(end, {blocks[i].address, blocks[i].excess_bytes_max});
    }
  }

  // Something is allocated: the block below it ends there, or below the free space that it was taken from.
  void close_end_below(std::uint64_t address) {
    const auto chunk = space_.find(address);
    if (!chunk || chunk->state != ChunkState::free) return;
    const std::uint64_t known_end = chunk->range.begin;
    const auto below = open_ends_.find_reaching(known_end, address);
    if (!below) return;
    open_ends_.close(known_end);
    TorchInitialBlock& block = initial_block(below->address);
    block.excess_bytes_max = 0;
    LiveBlocks::Live* live = live_.find(block.address);
    if (address == known_end || live == nullptr) return;
    block.size_bytes = live->block.size_bytes = address - block.address;
    space_.give_back(live->place);
    live->place = space_.take(block.address, block.size_bytes);
  }

  TorchInitialBlock& initial_block(std::uint64_t address) {
    return *std::lower_bound(history_.blocks.begin(), history_.blocks.end(), address,
                             [](const TorchInitialBlock& block, std::uint64_t at) { return block.address < at; });
  }

  // Ends that stayed open may hide that a peak was higher, or at another time.
  void bound_the_peaks() {
    const auto is_open = [](const TorchInitialBlock& block) { return block.excess_bytes_max > 0; };
    if (std::none_of(history_.blocks.begin(), history_.blocks.end(), is_open)) return;
    torch::PeakBounds peaks;
    live_.clear();
    const auto take = [&](const TorchInitialBlock& block) {
      live_.add(block);
      peaks.take(pool_of(block), block.size_bytes, block.excess_bytes_max);
    };
    const auto give_back = [&](std::uint64_t address) {
      const LiveBlocks::Live* live = live_.find(address);
      if (live == nullptr) return;
      peaks.give_back(pool_of(live->block), live->block.size_bytes, live->block.excess_bytes_max);
      live_.remove(address);
    };
    for (const TorchInitialBlock& block : history_.blocks) take(block);
    for (std::size_t entry = 0; entry < trace_.size(); ++entry) {
      const TorchAction action = trace_.action[entry];
      if (action == TorchAction::free || action == TorchAction::free_completed) give_back(trace_.address[entry]);
      if (action != TorchAction::alloc) continue;
      give_back(trace_.address[entry]);  // Its free is missing.
      TorchInitialBlock block;
      block.address = trace_.address[entry];
      block.size_bytes = history_.entry_size_bytes[entry];
      block.segment = history_.entry_segment[entry];
      block.pool = trace_.pool[entry];
      take(block);
    }
    history_.peak_excess_bytes_max = peaks.excess_bytes_max();
  }

  // The pool of the block's segment; without one, the reported pool or the main pool.
  torch::PeakBounds::Pool pool_of(const TorchInitialBlock& block) const {
    if (block.segment != TorchHistory::no_segment)
      return {snapshot_.segments.pool_first[block.segment], snapshot_.segments.pool_second[block.segment]};
    return {block.pool.first, block.pool.second};
  }

  void begin_again() {
    space_.clear(RegionsAre::reported);
    owners_.clear();
    live_.clear();
    for (const TorchInitialRegion& region : history_.regions)
      add_region(region.range, region.segment, region.is_expandable, region.pool);
    for (const TorchInitialBlock& block : history_.blocks) add(block);
  }

  void add(const TorchInitialBlock& block) { live_.add(block).place = space_.take(block.address, block.size_bytes); }

  void add_region(AddressRange range, std::uint32_t segment, bool is_expandable, TorchPoolId pool) {
    space_.add_region(range, joining_from(is_expandable));
    owners_.add(range, segment, is_expandable, pool);
  }

  void remove_region(AddressRange range) {
    space_.remove_region(range);
    owners_.remove(range);
  }

  // Backward pass: reverts the entry. It tracks only live blocks and the owners of regions; the forward pass checks
  // that blocks fit.
  void undo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const AddressRange range = range_from(address, trace_.size_bytes[entry]);
    switch (trace_.action[entry]) {
      case TorchAction::alloc: undo_alloc(entry); break;
      case TorchAction::free:
      case TorchAction::free_completed: undo_free(entry, trace_.action[entry] == TorchAction::free_completed); break;
      case TorchAction::free_requested:
        if (LiveBlocks::Live* live = live_.find(address))
          live->block.is_pending = false;
        else
          ++history_.contradictions;
        break;
      case TorchAction::segment_alloc:
      case TorchAction::segment_map:
        history_.entry_segment[entry] = owners_.find(address).segment;
        owners_.remove(range);
        break;
      case TorchAction::segment_free: owners_.add(range, TorchHistory::no_segment, false, trace_.pool[entry]); break;
      case TorchAction::segment_unmap:
        owners_.add(range, owners_.find_adjacent_segment(range), true, trace_.pool[entry]);
        break;
      case TorchAction::unknown:
      case TorchAction::snapshot:
      case TorchAction::oom: break;
    }
  }

  void undo_alloc(std::size_t entry) {
    const LiveBlocks::Live* live = live_.find(trace_.address[entry]);
    if (live == nullptr) {
      ++history_.contradictions;
      return;
    }
    history_.entry_size_bytes[entry] = live->block.size_bytes;
    history_.is_entry_size_derived[entry] = live->block.is_size_derived ? 1 : 0;
    live_.remove(trace_.address[entry]);
  }

  void undo_free(std::size_t entry, bool was_pending) {
    TorchInitialBlock block;
    block.address = trace_.address[entry];
    if (live_.find(block.address) != nullptr) {
      ++history_.contradictions;
      return;
    }
    block.size_bytes = rounded_request(bytes_or_0(trace_.size_bytes[entry]));
    block.requested_bytes = trace_.size_bytes[entry];
    block.segment = owners_.find(block.address).segment;
    block.pool = trace_.pool[entry];
    block.stream = trace_.stream[entry];
    block.is_pending = was_pending;
    block.is_size_derived = true;
    live_.add(block);
  }

  // Forward pass: the free blocks are known now, so block sizes can be derived.
  void redo(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    const AddressRange range = range_from(address, trace_.size_bytes[entry]);
    std::uint32_t& segment = history_.entry_segment[entry];
    switch (trace_.action[entry]) {
      case TorchAction::alloc: redo_alloc(entry); break;
      case TorchAction::free_requested:
      case TorchAction::free:
      case TorchAction::free_completed: redo_free(entry); break;
      case TorchAction::segment_alloc: add_region(range, segment, false, trace_.pool[entry]); break;
      case TorchAction::segment_map: add_region(range, segment, true, trace_.pool[entry]); break;
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
    const LiveBlocks::Live* live = live_.find(trace_.address[entry]);
    if (live == nullptr) {
      history_.entry_segment[entry] = owners_.find(trace_.address[entry]).segment;
      return;
    }
    history_.entry_segment[entry] = live->block.segment;
    if (trace_.action[entry] == TorchAction::free_requested) return;
    if (!open_ends_.empty()) open_ends_.close(live->block.address + live->block.size_bytes);
    space_.give_back(live->place);
    live_.remove(trace_.address[entry]);
  }

  void redo_alloc(std::size_t entry) {
    const std::uint64_t address = trace_.address[entry];
    if (const LiveBlocks::Live* live = live_.find(address)) {  // Its free is missing; the backward pass counted that.
      space_.give_back(live->place);
      live_.remove(address);
    }
    if (!open_ends_.empty()) close_end_below(address);
    std::uint64_t& size = history_.entry_size_bytes[entry];
    if (size == 0) {  // It contradicts the final state, but it was requested.
      size = rounded_request(bytes_or_0(trace_.size_bytes[entry]));
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

  const TorchSnapshot& snapshot_;
  const TorchTrace& trace_;
  AddressSpace space_;
  RegionOwners owners_;
  LiveBlocks live_;
  torch::OpenEnds open_ends_;
  TorchHistory history_;
};

}  // namespace

TorchHistory compute_torch_history(const TorchSnapshot& snapshot, const TorchTrace& trace,
                                   std::span<const std::uint32_t> segments) {
  return Historian(snapshot, trace).compute(segments);
}

}  // namespace hbmscope
