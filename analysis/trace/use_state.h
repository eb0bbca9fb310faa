// Only the bytes in use after every event: no addresses, no stacks, no free memory. For curves of many long streams, at
// a third of the cost of StreamState.
//
// It handles what ordinary streams contain. Rare cases (missing events, a heap that is listed again, an invalid free)
// it refuses; use a StreamState for those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/heap/address_space.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/physical_state.h"
#include "analysis/trace/take_slot.h"
#include "collector/wire/block_decoder.h"

namespace hbmscope {

class UseState {
 public:
  // The fields that it reads.
  static const wire::FieldChoice& fields();

  // Applies the next block, whose definitions must be known. Calls after(position, time, heap id, its bytes in use) as
  // StreamState::apply does. Returns false if the block contains something unsupported; discard all earlier results
  // then.
  template <class After>
  bool apply(const wire::DecodedBlock& block, const Definitions& definitions, const After& after);

  // Live blocks, and handles that the heap owns.
  std::uint64_t in_use_bytes(std::uint32_t heap) const {
    return (heap < in_use_.size() ? in_use_[heap] : 0) + physical_.heap(heap).owned_bytes;
  }
  std::uint64_t position() const { return position_; }     // Events applied.
  std::uint64_t blocks() const { return next_sequence_; }  // Event blocks applied.

 private:
  struct Slot {
    std::uint64_t size = 0;
    std::uint32_t heap = 0;
    bool is_vacant = false;
  };
  bool take(const wire::AllocRecord& record) { return fill(take_slot(slots_, free_slots_), record); }
  // Refuses an impossible size, which counts as 0 in AddressSpace.
  template <class Record>
  bool fill(std::uint32_t slot, const Record& record) {
    if (record.heap == 0 || record.heap >= in_use_.size() || record.address + record.size < record.address ||
        record.size - 1 >= AddressSpace::bytes_max - in_use_[record.heap])
      return false;
    slots_[slot] = {record.size, record.heap, false};
    in_use_[record.heap] += record.size;
    return true;
  }
  bool take_live(const wire::LiveRecord& record);
  bool takes_move(const wire::MoveRecord& record) const;
  void clear_heap(std::uint32_t heap);
  // The heap of the block that was in it, or 0 if it is unknown.
  std::uint32_t give_back(std::uint32_t slot) {
    if (slot >= slots_.size() || slots_[slot].is_vacant) return 0;
    Slot& freed = slots_[slot];
    freed.is_vacant = true;
    in_use_[freed.heap] -= freed.size;
    free_slots_.push_back(slot);
    return freed.heap;
  }
  bool follows(const wire::BlockHeader& header) const {
    return header.first_event == position_ && header.sequence == next_sequence_;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_slots_;    // Used as a stack.
  std::vector<std::uint64_t> in_use_;        // Blocks only, by heap.
  std::vector<std::uint32_t> listed_heaps_;  // Not reported to an observer yet.
  std::vector<bool> is_listed_;              // By heap: is in listed_heaps_.
  PhysicalState physical_;
  std::uint64_t position_ = 0;
  std::uint32_t next_sequence_ = 0;
};

template <class After>
bool UseState::apply(const wire::DecodedBlock& block, const Definitions& definitions, const After& after) {
  using wire::RecordKind;
  // A keyframe contains nothing new if nothing is missing.
  if (block.header().type == wire::BlockType::keyframe)
    return block.header().first_event <= position_ && block.header().sequence <= next_sequence_;
  if (!follows(block.header())) return false;
  next_sequence_ = block.header().sequence + 1;
  in_use_.resize(definitions.heaps().size());
  is_listed_.resize(definitions.heaps().size());
  const auto kinds = block.kinds();
  const auto times = block.times_ns();
  const auto allocs = block.rows<wire::AllocRecord>();
  const auto frees = block.rows<wire::FreeRecord>();
  constexpr std::size_t ahead = 16;
  std::size_t alloc = 0, free = 0, row[256] = {};
  std::uint64_t event = position_;
  const auto report_listed = [&](std::int64_t time_ns) {
    for (const std::uint32_t heap : listed_heaps_) {
      is_listed_[heap] = false;
      after(event, time_ns, heap, in_use_bytes(heap));
    }
    listed_heaps_.clear();
  };
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<RecordKind>(kinds[i]);
    if (kind == RecordKind::alloc || kind == RecordKind::free) {
      if (!listed_heaps_.empty()) report_listed(times[i]);
      std::uint32_t heap = 0;
      if (kind == RecordKind::alloc) {
        if (!take(allocs[alloc])) return false;
        heap = allocs[alloc++].heap;
      } else {
        if (free + ahead < frees.size() && frees[free + ahead].slot < slots_.size())
          __builtin_prefetch(&slots_[frees[free + ahead].slot], 1);
        heap = give_back(frees[free++].slot);
        if (heap == 0) return false;
      }
      after(++event, times[i], heap, in_use_bytes(heap));
      continue;
    }
    const bool is_event = wire::is_event(kinds[i]);
    if (is_event) report_listed(times[i]);
    const std::size_t at = row[kinds[i]]++;
    std::uint32_t gone = 0;
    switch (kind) {
      case RecordKind::live:
        if (!take_live(block.rows<wire::LiveRecord>()[at])) return false;
        break;
      case RecordKind::heap_gone:
        gone = block.rows<wire::HeapGoneRecord>()[at].heap;
        if (gone >= in_use_.size()) return false;
        clear_heap(gone);
        break;
      case RecordKind::move:
        if (!takes_move(block.rows<wire::MoveRecord>()[at])) return false;
        break;
      case RecordKind::loss:
      case RecordKind::listing:
      case RecordKind::free_at:
      case RecordKind::free_requested_at: return false;
      default: physical_.apply(kind, block, at, event, definitions.heaps().size()); break;
    }
    if (!is_event) continue;
    ++event;
    if (gone != 0) after(event, times[i], gone, in_use_bytes(gone));
    for (const std::uint32_t heap : physical_.changed())
      if (heap != gone) after(event, times[i], heap, in_use_bytes(heap));
    physical_.clear_changed();
  }
  report_listed(times.empty() ? block.header().last_time_ns : times.back());
  position_ = event;
  return true;
}

}  // namespace hbmscope
