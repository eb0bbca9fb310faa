#include "analysis/trace/use_state.h"

#include <algorithm>

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

// Before the stream's first event each comes once, in any order; a hole is a slot that nobody holds.
bool UseState::take_live(const wire::LiveRecord& record) {
  constexpr std::size_t hole_max = 4096;
  if (position_ > 0 || record.slot > slots_.size() + hole_max) return false;
  if (slots_.size() <= record.slot) slots_.resize(record.slot + std::size_t{1});
  if (slots_[record.slot].heap != 0 || !fill(record.slot, record)) return false;
  if (std::find(listed_heaps_.begin(), listed_heaps_.end(), record.heap) == listed_heaps_.end())
    listed_heaps_.push_back(record.heap);
  return true;
}

// Their slots stay taken, as in StreamState.
void UseState::clear_heap(std::uint32_t heap) {
  for (Slot& slot : slots_)
    if (slot.heap == heap && !slot.is_vacant) slot = {};
  in_use_[heap] = 0;
  physical_.drop_heap(heap);
}

}  // namespace hbmscope
