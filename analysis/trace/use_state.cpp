#include "analysis/trace/use_state.h"

namespace hbmscope {

const wire::FieldChoice& UseState::fields() {
  using wire::RecordKind;
  static const wire::FieldChoice choice = [] {
    wire::FieldChoice some;
    some.only(RecordKind::alloc, {"address", "size", "heap"}).only(RecordKind::free, {"slot", "stack"});
    some.only(RecordKind::live, {"address", "size", "heap", "slot"});
    return some;
  }();
  return choice;
}

// Lists each block once, before the stream's first event. Small gaps between slots are allowed; StreamState handles
// larger ones, and any order.
bool UseState::take_live(const wire::LiveRecord& record) {
  constexpr std::uint32_t slot_behind_hole_max = 4096;
  if (position_ > 0 || (record.slot > slots_.size() && record.slot >= slot_behind_hole_max)) return false;
  if (slots_.size() <= record.slot) slots_.resize(record.slot + std::size_t{1});
  if (slots_[record.slot].heap != 0 || !fill(record.slot, record)) return false;
  if (!is_listed_[record.heap]) listed_heaps_.push_back(record.heap);
  is_listed_[record.heap] = true;
  return true;
}

// A move changes no bytes, provided that the block fits at the new address.
bool UseState::takes_move(const wire::MoveRecord& record) const {
  if (record.slot >= slots_.size() || slots_[record.slot].is_vacant) return false;
  const Slot& slot = slots_[record.slot];
  return slot.heap != 0 && record.address + slot.size >= record.address;
}

// Their slots stay taken, as in StreamState. Every live block has at least one byte.
void UseState::clear_heap(std::uint32_t heap) {
  if (in_use_[heap] > 0)
    for (Slot& slot : slots_)
      if (slot.heap == heap && !slot.is_vacant) slot = {};
  in_use_[heap] = 0;
  physical_.drop_heap(heap);
}

}  // namespace hbmscope
