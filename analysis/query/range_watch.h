// Tracks one address range of a heap without the rest of the heap. Of other blocks it keeps only the slot, four bytes,
// so a pass costs little more than decoding the events (15 to 30 ns each; rebuilding a heap with a million live blocks
// costs 340 ns per event).
//
// After a move, a block is no longer at the address of its allocation, and addresses outside the range are not kept. In
// a stream with moves the watch therefore stops without a result, and the caller rebuilds the heap
// (analysis/trace/pass.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/model/address_range.h"
#include "analysis/trace/pass.h"

namespace hbmscope {

// In stream order. Blocks are reported as they lie in the heap: a block of impossible size is empty.
struct RangeEvent {
  enum class What : std::uint8_t { allocated, freed, region_grew, heap_gone, listed };
  What what = What::allocated;
  std::uint64_t event = 0;  // For listings: the number of events before.
  std::int64_t time_ns = 0;
  LiveBlock block;             // Allocated or freed; for a region its address and size.
  std::uint32_t by_stack = 0;  // Who freed it, or grew the region.
};

class RangeWatch {
 public:
  RangeWatch(const Definitions& definitions, std::uint32_t heap, AddressRange range)
      : definitions_(definitions), heap_(heap), range_(range) {}

  // Calls visit(event) for whatever touches the range, for heaps that go, and for new listings of this heap. Returns
  // false at a move.
  template <class Visit>
  bool add(const wire::DecodedBlock& block, const Visit& visit);

  // Live blocks over the range, by slot.
  const std::map<std::uint32_t, LiveBlock>& watched() const { return watched_; }

 private:
  static constexpr std::uint32_t empty = 0, vacant = 0xffffffff, is_watched = 0x80000000;

  bool is_known(std::uint32_t heap) const { return heap != 0 && heap < definitions_.heaps().size(); }
  void put(std::uint32_t slot, const LiveBlock& block) {
    heaps_[slot] = block.heap;
    if (block.heap != heap_ || !block.has_address()) return;
    if (!AddressRange{block.address, block.address + block.size}.overlaps(range_)) return;
    heaps_[slot] |= is_watched;
    watched_[slot] = block;
  }
  template <class Record>
  static LiveBlock block_of(const Record& record, std::uint32_t slot, std::uint64_t event) {
    LiveBlock block;
    block.event = event;
    block.address = record.address;
    block.size = possible_size(record);
    block.requested = record.requested > AddressSpace::bytes_max ? wire::unknown_bytes : record.requested;
    block.slot = slot;
    block.heap = record.heap;
    block.stack = record.stack;
    block.stream = record.stream;
    block.tag = record.tag;
    block.flags = record.flags;
    return block;
  }
  std::uint32_t take_slot();
  std::optional<LiveBlock> allocate(const wire::AllocRecord& record, std::uint64_t event);
  std::optional<LiveBlock> free(std::uint32_t slot);
  void list(const wire::LiveRecord& record);
  void free_empty(std::uint32_t slot);  // At the end of a listing.
  void begin_listing(std::uint32_t heap);
  void clear(std::uint32_t heap);

  const Definitions& definitions_;
  const std::uint32_t heap_;
  const AddressRange range_;
  // By slot: the heap of its block, and whether it is watched; `empty` if its heap was cleared.
  std::vector<std::uint32_t> heaps_;
  std::vector<std::uint32_t> free_slots_;  // Used as a stack.
  std::map<std::uint32_t, LiveBlock> watched_;
  std::uint64_t blocks_seen_ = 0;
  bool is_listing_ = false, is_listed_ = false;  // As in StreamState.
};

// Calls visit(watch, event) for the whole stream. Returns nothing if it was cancelled, false if a block moved.
template <class Visit>
std::optional<bool> watch_range(const Stream& stream, std::uint32_t heap, AddressRange range, PassControl* control,
                                const Visit& visit) {
  RangeWatch watch(stream.definitions(), heap, range);
  bool has_moves = false;
  const bool is_whole =
      pass_over_blocks(stream, stream.end_position(), control, [&](const wire::DecodedBlock& block, std::size_t) {
        has_moves = has_moves || !watch.add(block, [&](const RangeEvent& event) { visit(watch, event); });
      });
  if (!is_whole) return std::nullopt;
  return !has_moves;
}

template <class Visit>
bool RangeWatch::add(const wire::DecodedBlock& block, const Visit& visit) {
  using wire::RecordKind;
  const auto kinds = block.kinds();
  const auto times = block.times_ns();
  const auto allocs = block.rows<wire::AllocRecord>();
  const auto frees = block.rows<wire::FreeRecord>();
  if (!block.rows<wire::MoveRecord>().empty()) return false;
  constexpr std::size_t ahead = 16;
  std::size_t alloc = 0, free_row = 0, live = 0, free_slot = 0, listing = 0, grown = 0, region_live = 0, gone = 0;
  std::uint64_t event = block.header().first_event;
  const auto report_listed = [&](std::int64_t time_ns) {
    if (is_listed_) visit(RangeEvent{RangeEvent::What::listed, event, time_ns, {}, 0});
    is_listed_ = false;
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const bool is_event = wire::is_event(kinds[i]);
    if (is_event) report_listed(times[i]);
    switch (static_cast<RecordKind>(kinds[i])) {
      case RecordKind::alloc:
        if (const auto taken = allocate(allocs[alloc++], event))
          visit(RangeEvent{RangeEvent::What::allocated, event, times[i], *taken, 0});
        break;
      case RecordKind::free: {
        if (free_row + ahead < frees.size() && frees[free_row + ahead].slot < heaps_.size())
          __builtin_prefetch(&heaps_[frees[free_row + ahead].slot], 1);
        const wire::FreeRecord& record = frees[free_row++];
        const std::uint32_t by = record.stack == wire::derived_free ? 0 : record.stack;
        if (const auto freed = free(record.slot))
          visit(RangeEvent{RangeEvent::What::freed, event, times[i], *freed, by});
        break;
      }
      case RecordKind::live: list(block.rows<wire::LiveRecord>()[live++]); break;
      case RecordKind::free_slot: free_empty(block.rows<wire::FreeSlotRecord>()[free_slot++].slot); break;
      case RecordKind::listing: {
        const wire::ListingRecord& record = block.rows<wire::ListingRecord>()[listing++];
        if (record.heap != 0 && !is_known(record.heap)) break;
        is_listing_ = record.phase == 0;
        if (record.phase == 0) begin_listing(record.heap);
        break;
      }
      case RecordKind::region_live:
        is_listed_ |= block.rows<wire::RegionLiveRecord>()[region_live++].heap == heap_ && is_known(heap_);
        break;
      case RecordKind::region_grow: {
        const wire::RegionGrowRecord& record = block.rows<wire::RegionGrowRecord>()[grown++];
        if (record.heap != heap_ || !is_known(heap_)) break;
        LiveBlock region;
        region.address = record.address;
        region.size = record.size;
        if (AddressRange{region.address, region.address + region.size}.overlaps(range_))
          visit(RangeEvent{RangeEvent::What::region_grew, event, times[i], region, record.stack});
        break;
      }
      case RecordKind::heap_gone: {
        const std::uint32_t heap = block.rows<wire::HeapGoneRecord>()[gone++].heap;
        if (heap != 0) clear(heap);
        if (heap == heap_ && is_known(heap)) visit(RangeEvent{RangeEvent::What::heap_gone, event, times[i], {}, 0});
        break;
      }
      default: break;
    }
    event += is_event ? 1 : 0;
  }
  if (!is_listing_) report_listed(times.empty() ? 0 : times.back());
  return true;
}

}  // namespace hbmscope
