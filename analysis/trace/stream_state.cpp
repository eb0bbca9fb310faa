#include "analysis/trace/stream_state.h"

#include <algorithm>

#include "allocator/reference/interface/fragmentation.h"
#include "analysis/trace/take_slot.h"

namespace hbmscope {
std::optional<double> external_fragmentation(const HeapState& heap) {
  const auto free = heap.space.free_bytes(), largest = heap.space.largest_free();
  if (!free || !largest) return std::nullopt;
  return external_fragmentation_of(*free, *largest);
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
    details_.emplace_back();
    made.space.clear(info.has(wire::heap_flag::has_regions) && !ignores_regions_ ? RegionsAre::reported
                                                                                 : RegionsAre::unknown);
    made.is_inexact = info.has(wire::heap_flag::contradicts_itself);
  }
}

void StreamState::forget_regions() {
  ignores_regions_ = true;
  for (HeapState& heap : heaps_) heap.space.forget_regions();
}

std::uint64_t StreamState::count_problems() const {
  std::uint64_t problems = problems_.total();
  for (const HeapState& heap : heaps_) problems += heap.space.problems().total();
  return problems;
}

std::uint64_t StreamState::count_size_problems() const {
  std::uint64_t problems = problems_.total();
  for (const HeapState& heap : heaps_) problems += heap.space.problems().impossible_sizes;
  return problems;
}

LiveBlock StreamState::block_in(std::size_t number) const {
  const Slot& slot = slots_[number];
  LiveBlock block;
  block.slot = static_cast<std::uint32_t>(number);
  block.is_vacant = slot.is_vacant != 0;
  if (slot.heap == 0) return block;
  const AddressRange range = heaps_[slot.heap].space.range_of(slot.place);
  const Details& details = details_[slot.heap][static_cast<std::size_t>(slot.place)];
  block.event = details.event;
  block.address = range.begin;
  block.size = range.size();
  block.requested = slot.requested;
  block.heap = slot.heap;
  block.stack = details.stack;
  block.stream = details.stream;
  block.tag = details.tag;
  block.flags = details.flags | (slot.is_pending != 0 ? wire::block_flag::is_pending : 0);
  block.place = slot.place;
  return block;
}

void StreamState::remove_block(Slot& slot) {
  HeapState& heap = heaps_[slot.heap];
  const std::uint64_t size = heap.space.range_of(slot.place).size();
  heap.space.give_back(slot.place);
  heap.in_use_bytes -= size;
  --heap.live_blocks;
  if (slot.requested == wire::unknown_bytes)
    --heap.unknown_requests;
  else
    heap.requested_bytes -= slot.requested;
  if (slot.is_pending != 0) {
    heap.pending_bytes -= size;
    --heap.pending_blocks;
  }
  slot.heap = 0;
}

std::uint32_t StreamState::apply_alloc(const wire::AllocRecord& record, std::uint64_t event,
                                       const Definitions& definitions) {
  // Always takes the slot: the writer took it too.
  const std::uint32_t number = take_slot(slots_, free_slots_);
  ++blocks_seen_;
  Slot& slot = slots_[number];
  HeapState* heap = find_heap(record.heap, definitions);
  if (heap == nullptr) {
    slot = {};
    return 0;
  }
  fill_slot(number, record, event, *heap, heap->space.take(record.address, record.size));
  return record.heap;
}

std::uint32_t StreamState::apply_live(const wire::LiveRecord& record, const Definitions& definitions) {
  ++blocks_seen_;
  // Slots may be listed in any order and with free ones between; a much larger number is damage.
  if (record.slot >= std::max<std::uint64_t>(slots_.size(), 4 * blocks_seen_ + 4096)) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  if (slots_.size() <= record.slot) slots_.resize(record.slot + std::size_t{1});
  Slot& slot = slots_[record.slot];
  // A vacant slot is in free_slots_ too, so the next allocation would overwrite this block.
  if (slot.heap != 0 || slot.is_vacant != 0) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  HeapState* heap = find_heap(record.heap, definitions);
  if (heap == nullptr) return 0;
  const bool is_loose = (record.flags & (wire::block_flag::is_loose | wire::block_flag::has_no_address)) != 0;
  fill_slot(
      record.slot, record, record.event, *heap,
      is_loose ? heap->space.take_loose(record.address, record.size) : heap->space.take(record.address, record.size));
  return record.heap;
}

std::uint32_t StreamState::apply_free(std::uint32_t number) {
  if (number >= slots_.size() || slots_[number].is_vacant != 0) {
    ++problems_.bad_slots;
    note_gap();
    return 0;
  }
  free_slots_.push_back(number);
  Slot& slot = slots_[number];
  const std::uint32_t heap = slot.heap;
  if (heap == 0)
    ++problems_.bad_slots;
  else
    remove_block(slot);
  slot.is_pending = 0;
  slot.is_vacant = 1;
  return heap;
}

std::uint32_t StreamState::apply_free_requested(std::uint32_t number) {
  if (number >= slots_.size() || slots_[number].heap == 0) {
    ++problems_.bad_slots;
    return 0;
  }
  Slot& slot = slots_[number];
  if (slot.is_pending != 0) return 0;
  slot.is_pending = 1;
  HeapState& heap = heaps_[slot.heap];
  heap.pending_bytes += heap.space.range_of(slot.place).size();
  ++heap.pending_blocks;
  return slot.heap;
}

std::uint32_t StreamState::apply_move(const wire::MoveRecord& record) {
  if (record.slot >= slots_.size() || slots_[record.slot].heap == 0) {
    ++problems_.bad_slots;
    return 0;
  }
  Slot& slot = slots_[record.slot];
  AddressSpace& space = heaps_[slot.heap].space;
  const std::uint64_t size = space.range_of(slot.place).size();
  const Details details = details_[slot.heap][static_cast<std::size_t>(slot.place)];
  space.give_back(slot.place);
  slot.place = space.take(record.address, size);
  put_details(slot.heap, slot.place, details);
  return slot.heap;
}

std::uint32_t StreamState::apply_region(std::uint32_t id, std::uint64_t address, std::uint64_t size,
                                        std::uint32_t flags, bool is_new, const Definitions& definitions) {
  HeapState* heap = find_heap(id, definitions);
  if (heap == nullptr) return 0;
  if (ignores_regions_) return id;
  // An end beyond 2^64 makes the range empty; the space counts that.
  const AddressRange range{address, address + size < address ? address : address + size};
  if (is_new)
    heap->space.add_region(
        range, (flags & wire::region_flag::joins_neighbours) != 0 ? Joining::with_neighbours : Joining::never);
  else
    heap->space.remove_region(range);
  return id;
}

// Clears the slots of one heap (0: all). They stay taken, because the writer's table does not change.
void StreamState::clear_slots(std::uint32_t heap) {
  if (heap != 0 && heaps_[heap].live_blocks == 0) return;
  for (Slot& slot : slots_)
    if (slot.heap != 0 && (heap == 0 || slot.heap == heap)) slot = {};
}

// Requires that its slots are empty.
void StreamState::clear_figures(std::uint32_t id) {
  HeapState& heap = heaps_[id];
  details_[id].clear();
  all_are_inexact_ = false;
  const bool is_listed = heap.is_listed;
  const std::int64_t inexact_since_ns = heap.inexact_since_ns;
  AddressSpace space = std::move(heap.space);
  space.clear(space.region_bytes() ? RegionsAre::reported : RegionsAre::unknown);
  heap = {};
  heap.space = std::move(space);
  heap.is_listed = is_listed;
  heap.inexact_since_ns = inexact_since_ns;
}

std::uint32_t StreamState::apply_heap_gone(std::uint32_t heap) {
  if (heap != 0 && heap < heaps_.size()) {
    clear_slots(heap);
    clear_figures(heap);
  }
  physical_.drop_heap(heap);
  return heap < heaps_.size() ? heap : 0;
}

void StreamState::apply_loss(const wire::LossRecord& record) {
  problems_.losses += std::max<std::uint64_t>(1, record.count);
  const auto since_ns = static_cast<std::int64_t>(record.since_ns);
  if (record.heap == 0) return note_gap(since_ns);
  if (record.heap < known_heaps_) note_inexact(record.heap, since_ns);
  physical_.note_loss(record.heap, known_heaps_);
}

void StreamState::learn_heaps(const Definitions& definitions, std::uint32_t sequence) {
  while (known_heaps_ < heaps_.size() && definitions.heaps()[known_heaps_].defined_in_block <= sequence) {
    ++known_heaps_;
    all_are_inexact_ = false;
  }
}

void StreamState::note_inexact(std::size_t heap, std::int64_t since_ns) {
  const bool is_reported = since_ns > 0;
  if (!is_inexact(static_cast<std::uint32_t>(heap))) heaps_[heap].inexact_since_ns = is_reported ? since_ns : time_ns_;
  heaps_[heap].is_inexact = true;
}

void StreamState::note_gap(std::int64_t since_ns) {
  if (all_are_inexact_) return;
  all_are_inexact_ = true;
  for (std::size_t id = 0; id < known_heaps_; ++id) note_inexact(id, since_ns);
  physical_.note_loss(0, known_heaps_);
}

void StreamState::note_listed(std::uint32_t heap) {
  if (heaps_[heap].is_listed) return;
  heaps_[heap].is_listed = true;
  listed_heaps_.push_back(heap);
}

bool StreamState::takes_keyframe(const wire::BlockHeader& header) const {
  if (header.first_event != position_) return header.first_event > position_;
  return is_in_keyframe_ || header.sequence > next_sequence_ ||
         std::any_of(heaps_.begin(), heaps_.end(), [](const HeapState& heap) { return heap.is_inexact; });
}

bool StreamState::begin_block_of_keyframe(const wire::BlockHeader& header) {
  if (!takes_keyframe(header)) return false;
  if (!is_in_keyframe_ || header.first_event > position_) skip_lost(header.first_event);
  if (!is_in_keyframe_) is_keyframe_whole_ = false;
  is_in_keyframe_ = true;
  next_sequence_ = header.sequence;
  return true;
}

// The first listing is that of all heaps, and slots are numbered anew. Each heap is inexact until its own listing ends.
void StreamState::begin_keyframe(const wire::ListingRecord& record) {
  if (record.heap != 0) return;
  slots_.clear();
  free_slots_.clear();
  physical_.clear();
  is_keyframe_whole_ = true;
  keyframe_rows_ = 0;
  all_are_inexact_ = false;
  note_gap();
}

// Nothing in an incomplete keyframe is reliable.
void StreamState::end_in_keyframe(const wire::ListingRecord& record) {
  is_listing_ = false;
  blocks_seen_ = std::max<std::uint64_t>(blocks_seen_, slots_.size());
  if (!is_keyframe_whole_ || record.rows != keyframe_rows_ || record.heap == 0 || record.heap >= heaps_.size()) return;
  all_are_inexact_ = false;
  heaps_[record.heap].is_inexact = (record.phase & wire::listing_end::lacks_blocks) != 0;
  if ((record.phase & wire::listing_end::lacks_handles) == 0) physical_.note_whole(record.heap);
}

// A keyframe lists slots in ascending order, so there are no more slots than rows. Every row uses up its slot number,
// whatever it contains.
std::uint32_t StreamState::apply_slot(const wire::LiveRecord& record, const Definitions& definitions) {
  if (record.slot != slots_.size()) {
    ++problems_.bad_slots;
    is_keyframe_whole_ = false;
    return 0;
  }
  slots_.emplace_back();
  return record.heap == 0 ? 0 : apply_live(record, definitions);
}

void StreamState::apply_free_slot(std::uint32_t slot) {
  if (slot >= slots_.size() || slots_[slot].heap != 0 || slots_[slot].is_vacant != 0) {
    ++problems_.bad_slots;
    is_keyframe_whole_ = false;
    return;
  }
  slots_[slot].is_vacant = 1;
  free_slots_.push_back(slot);
}

void StreamState::apply_listing(const wire::ListingRecord& record, const Definitions& definitions) {
  if (record.heap != 0 && find_heap(record.heap, definitions) == nullptr) return;
  is_listing_ = record.phase == 0;
  if (is_listing_) clear_slots(record.heap);
  for (std::uint32_t id = 0; id < heaps_.size(); ++id) {
    if (record.heap != 0 && record.heap != id) continue;
    if (record.phase == 0) {
      clear_figures(id);
      if (id != 0) note_listed(id);
    } else {
      heaps_[id].is_inexact = false;
      all_are_inexact_ = false;
    }
  }
}

}  // namespace hbmscope
