#include "analysis/query/range_watch.h"

#include <algorithm>

namespace hbmscope {

std::uint32_t RangeWatch::take_slot() {
  ++blocks_seen_;
  if (free_slots_.empty()) {
    heaps_.push_back(empty);
    return static_cast<std::uint32_t>(heaps_.size() - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

std::optional<LiveBlock> RangeWatch::allocate(const wire::AllocRecord& record, std::uint64_t event) {
  const std::uint32_t slot = take_slot();
  heaps_[slot] = empty;
  if (!is_known(record.heap)) return std::nullopt;
  if (record.heap != heap_) {
    heaps_[slot] = record.heap;
    return std::nullopt;
  }
  const LiveBlock block = block_of(record, slot, event);
  put(slot, block);
  return (heaps_[slot] & is_watched) != 0 ? std::optional(block) : std::nullopt;
}

std::optional<LiveBlock> RangeWatch::free(std::uint32_t slot) {
  if (slot >= heaps_.size() || heaps_[slot] == vacant) return std::nullopt;
  const bool was_watched = (heaps_[slot] & is_watched) != 0;
  heaps_[slot] = vacant;
  free_slots_.push_back(slot);
  if (!was_watched) return std::nullopt;
  const auto found = watched_.find(slot);
  const LiveBlock block = found->second;
  watched_.erase(found);
  return block;
}

// Rejects what StreamState rejects: slots far beyond the known ones, and slots that hold a block or wait for reuse.
void RangeWatch::list(const wire::LiveRecord& record) {
  ++blocks_seen_;
  if (record.slot >= std::max<std::uint64_t>(heaps_.size(), 4 * blocks_seen_ + 4096)) return;
  if (heaps_.size() <= record.slot) heaps_.resize(record.slot + std::size_t{1}, empty);
  if (heaps_[record.slot] != empty || !is_known(record.heap)) return;
  put(record.slot, block_of(record, record.slot, record.event));
  is_listed_ |= record.heap == heap_;
}

void RangeWatch::free_empty(std::uint32_t slot) {
  if (!is_listing_ || slot >= heaps_.size() || heaps_[slot] != empty) return;
  heaps_[slot] = vacant;
  free_slots_.push_back(slot);
}

void RangeWatch::begin_listing(std::uint32_t heap) {
  clear(heap);
  is_listed_ |= (heap == 0 || heap == heap_) && is_known(heap_);
}

// The slots stay taken, because the writer's table does not change. 0 means all heaps.
void RangeWatch::clear(std::uint32_t heap) {
  for (std::uint32_t& slot : heaps_)
    if (slot != empty && slot != vacant && (heap == 0 || (slot & ~is_watched) == heap)) slot = empty;
  if (heap == 0 || heap == heap_) watched_.clear();
}

}  // namespace hbmscope
