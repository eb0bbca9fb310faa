#include "analysis/trace/stream_state.h"

#include <algorithm>

namespace hbmscope {
std::optional<double> external_fragmentation(const HeapState& heap) {
  const auto free = heap.space.free_bytes(), largest = heap.space.largest_free();
  if (!free || !largest || *free == 0) return std::nullopt;
  return 1.0 - static_cast<double>(*largest) / static_cast<double>(*free);
}

std::optional<double> internal_fragmentation(const HeapState& heap) {
  const auto requested = heap.known_requested_bytes();
  if (!requested || heap.in_use_bytes == 0) return std::nullopt;
  return 1.0 - static_cast<double>(*requested) / static_cast<double>(heap.in_use_bytes);
}

HeapState* StreamState::find_heap(std::uint32_t id, const Definitions& definitions) {
  if (id == 0 || id >= definitions.heaps().size()) {
    ++problems_.undefined_heaps;
    return nullptr;
  }
  if (id >= heaps_.size()) make_heaps(definitions);
  return &heaps_[id];
}

void StreamState::make_heaps(const Definitions& definitions) {
  while (heaps_.size() < definitions.heaps().size()) {
    const HeapInfo& info = definitions.heap(static_cast<std::uint32_t>(heaps_.size()));
    HeapState& made = heaps_.emplace_back();
    made.space.clear(info.has(wire::heap_flag::has_regions) ? RegionsAre::told : RegionsAre::unknown);
  }
}

void StreamState::add_block(LiveBlock& block, HeapState& heap) {
  const bool is_loose = (block.flags & wire::block_flag::is_loose) != 0;
  block.flags &= ~wire::block_flag::is_loose;
  block.place =
      is_loose ? heap.space.take_loose(block.address, block.size) : heap.space.take(block.address, block.size);
  // A size that can't be counts as none, there and here; a request that can't be is not told.
  block.size = heap.space.range_of(block.place).size();
  if (block.requested > AddressSpace::bytes_max) block.requested = wire::unknown_bytes;
  heap.in_use_bytes += block.size;
  ++heap.live_blocks;
  if (block.requested == wire::unknown_bytes)
    ++heap.unknown_requests;
  else
    heap.requested_bytes += block.requested;
  if (block.is_pending()) {
    heap.pending_bytes += block.size;
    ++heap.pending_blocks;
  }
}

void StreamState::remove_block(LiveBlock& block) {
  HeapState& heap = heaps_[block.heap];
  heap.space.give_back(block.place);
  heap.in_use_bytes -= block.size;
  --heap.live_blocks;
  if (block.requested == wire::unknown_bytes)
    --heap.unknown_requests;
  else
    heap.requested_bytes -= block.requested;
  if (block.is_pending()) {
    heap.pending_bytes -= block.size;
    --heap.pending_blocks;
  }
  block.heap = 0;
}

std::uint32_t StreamState::apply_alloc(const wire::AllocRecord& record, std::uint64_t event,
                                       const Definitions& definitions) {
  // The slot is taken in any case: the writer took it too.
  std::uint32_t slot = 0;
  if (free_slots_.empty()) {
    slot = static_cast<std::uint32_t>(slots_.size());
    slots_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  ++blocks_seen_;
  LiveBlock& block = slots_[slot];
  block = {};
  HeapState* heap = find_heap(record.heap, definitions);
  if (heap == nullptr) return 0;
  block = {event,        record.address, record.size, record.requested, record.heap,
           record.stack, record.stream,  record.tag,  record.flags,     BlockIndex::none};
  add_block(block, *heap);
  return record.heap;
}

std::uint32_t StreamState::apply_live(const wire::LiveRecord& record, const Definitions& definitions) {
  ++blocks_seen_;
  // Listed slots may come in any order and have holes of free ones; what goes far beyond is damage.
  if (record.slot >= std::max<std::uint64_t>(slots_.size(), 4 * blocks_seen_ + 4096)) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  while (slots_.size() <= record.slot) slots_.emplace_back();
  LiveBlock& block = slots_[record.slot];
  if (block.is_live()) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  HeapState* heap = find_heap(record.heap, definitions);
  if (heap == nullptr) return 0;
  block = {record.event, record.address, record.size, record.requested, record.heap,
           record.stack, record.stream,  record.tag,  record.flags,     BlockIndex::none};
  add_block(block, *heap);
  return record.heap;
}

std::uint32_t StreamState::apply_free(std::uint32_t slot) {
  if (slot >= slots_.size() || slots_[slot].is_vacant) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  free_slots_.push_back(slot);
  LiveBlock& block = slots_[slot];
  block.is_vacant = true;
  const std::uint32_t heap = block.heap;
  if (heap == 0) {
    ++problems_.bad_slots;
    return 0;
  }
  remove_block(block);
  return heap;
}

std::uint32_t StreamState::apply_free_requested(std::uint32_t slot) {
  if (slot >= slots_.size() || !slots_[slot].is_live()) {
    ++problems_.bad_slots;
    return 0;
  }
  LiveBlock& block = slots_[slot];
  if (block.is_pending()) return 0;
  block.flags |= wire::block_flag::is_pending;
  HeapState& heap = heaps_[block.heap];
  heap.pending_bytes += block.size;
  ++heap.pending_blocks;
  return block.heap;
}

std::uint32_t StreamState::apply_move(const wire::MoveRecord& record) {
  if (record.slot >= slots_.size() || !slots_[record.slot].is_live()) {
    ++problems_.bad_slots;
    return 0;
  }
  LiveBlock& block = slots_[record.slot];
  AddressSpace& space = heaps_[block.heap].space;
  space.give_back(block.place);
  block.address = record.address;
  block.place = space.take(block.address, block.size);
  return block.heap;
}

std::uint32_t StreamState::apply_region(std::uint32_t id, std::uint64_t address, std::uint64_t size,
                                        std::uint32_t flags, bool is_new, const Definitions& definitions) {
  HeapState* heap = find_heap(id, definitions);
  if (heap == nullptr) return 0;
  // An end beyond 2^64 is an empty range, which the space counts.
  const AddressRange range{address, address + size < address ? address : address + size};
  if (is_new)
    heap->space.add_region(
        range, (flags & wire::region_flag::joins_neighbours) != 0 ? Joining::with_neighbours : Joining::never);
  else
    heap->space.remove_region(range);
  return id;
}

// The slots of what it held stay taken: the writer's table knows nothing of it.
void StreamState::clear_heap(std::uint32_t id) {
  if (id >= heaps_.size()) return;
  if (heaps_[id].live_blocks > 0)
    for (LiveBlock& block : slots_)
      if (block.heap == id) block = {};
  HeapState& heap = heaps_[id];
  AddressSpace space = std::move(heap.space);
  space.clear(space.region_bytes() ? RegionsAre::told : RegionsAre::unknown);
  heap = {};
  heap.space = std::move(space);
}

std::uint32_t StreamState::apply_heap_gone(std::uint32_t heap) {
  clear_heap(heap);
  physical_.drop_heap(heap);
  return heap < heaps_.size() ? heap : 0;
}

void StreamState::apply_loss(const wire::LossRecord& record) {
  problems_.losses += std::max<std::uint64_t>(1, record.count);
  for (std::uint32_t id = 0; id < known_heaps_; ++id)
    if (record.heap == 0 || record.heap == id) heaps_[id].is_inexact = true;
  physical_.note_loss(record.heap, known_heaps_);
}

void StreamState::note_gap() {
  for (std::size_t id = 0; id < known_heaps_; ++id) heaps_[id].is_inexact = true;
  physical_.note_loss(0, known_heaps_);
}

void StreamState::apply_listing(const wire::ListingRecord& record, const Definitions& definitions) {
  if (record.heap != 0 && find_heap(record.heap, definitions) == nullptr) return;
  for (std::uint32_t id = 0; id < heaps_.size(); ++id) {
    if (record.heap != 0 && record.heap != id) continue;
    if (record.phase == 0)
      clear_heap(id);
    else
      heaps_[id].is_inexact = false;
  }
}

}  // namespace hbmscope
