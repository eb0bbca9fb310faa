// One pass over a stream from its first event, for answers that the state at one time can't give: total allocations,
// lifetimes of blocks, when a heap reached a new peak. Costs about 50 to 150 ns per event and no memory per event.
//
// A pass can be long (10^8 events), and the next query often makes it obsolete. The waiting side shares a PassControl
// with it, as readers share a ReadControl.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/trace/apply_block.h"
#include "analysis/trace/heap_change.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/record_cursor.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

// Calls visit(decoded block, its number) for every block of the stream that has one of the first `end` events or
// earlier state. Returns false if it was cancelled.
template <class Visit>
bool pass_over_blocks(const Stream& stream, std::uint64_t end, PassControl* control, const Visit& visit) {
  wire::BlockDecoder decoder;
  wire::DecodedBlock decoded;
  const auto& blocks = stream.blocks();
  for (std::size_t number = 0; number < blocks.size(); ++number) {
    if (control != nullptr && control->cancelled) return false;
    if (blocks[number]->header.first_event > end) break;
    if (decoder.decode(*blocks[number], decoded)) break;  // It was decodable when it was appended.
    visit(decoded, number);
    if (control != nullptr) control->done_events += blocks[number]->header.events;
  }
  return control == nullptr || !control->cancelled;
}

// Calls after(state, position, time in ns, heap id) for each of the first `end` events that changed a heap, and once
// for whatever was listed of a heap between two events; position 0 is the state before the stream. Returns false if
// cancelled.
template <class After>
bool pass_over_states(const Stream& stream, std::uint64_t end, PassControl* control, const After& after) {
  StreamState state;
  state.make_heaps(stream.definitions());
  return pass_over_blocks(stream, end, control, [&](const wire::DecodedBlock& block, std::size_t number) {
    state.apply(block, number, stream.definitions(), end,
                [&](std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) {
                  after(static_cast<const StreamState&>(state), position, time_ns, heap);
                });
  });
}

// Calls visit(decoded block, place) for every record of the first `end` events and of the state before them.
template <class Visit>
bool pass_over_records(const Stream& stream, std::uint64_t end, PassControl* control, const Visit& visit) {
  return pass_over_blocks(stream, end, control, [&](const wire::DecodedBlock& block, std::size_t) {
    for (RecordCursor cursor(block); !cursor.at_end();) {
      const RecordPlace place = cursor.next();
      if (wire::is_event(static_cast<std::uint16_t>(place.kind)) && place.event >= end) return;
      visit(block, place);
    }
  });
}

// Blocks of a cleared heap, kept until it is known which of them are listed again.
class ClearedBlocks {
 public:
  void note(const StreamState& state, std::uint32_t heap);  // 0: all heaps.
  // The noted blocks of a heap that are not live in it now.
  std::vector<LiveBlock> take(const StreamState& state, std::uint32_t heap);

 private:
  std::vector<LiveBlock> blocks_;
};

// Receives the callbacks of StreamState::apply for one block.
template <class Visit, class Skipped>
class HeapChangeObserver {
 public:
  // `cleared` is carried from block to block with the state. If it is null, blocks that disappear with their heap
  // aren't reported.
  HeapChangeObserver(const wire::DecodedBlock& block, const StreamState& state, std::uint64_t end, const Visit& visit,
                     const Skipped& skipped, ClearedBlocks* cleared = nullptr)
      : block_(block), state_(state), end_(end), visit_(visit), skipped_(skipped), cleared_(cleared), cursor_(block) {}

  void before_free(std::uint32_t slot) const { freed_ = block_in(slot); }
  void before_clear(std::uint32_t heap) const {
    if (cleared_ != nullptr) cleared_->note(state_, heap);
  }
  void listed(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
    while (cursor_.next_event() < position && !cursor_.at_end()) skip(cursor_.next());
    HeapChange change;
    change.heap = heap;
    change.position = position;
    change.time_ns = time_ns;
    if (cleared_ != nullptr) change.went = cleared_->take(state_, heap);
    visit_(state_, change, block_);
  }
  void operator()(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
    HeapChange change;
    change.heap = heap;
    change.position = position;
    change.time_ns = time_ns;
    // The event is the last one before the position. If an event changed several heaps, only the first call reports it.
    while (cursor_.next_event() < position && !cursor_.at_end()) {
      skip(change.place);
      change.place = cursor_.next();
    }
    if (wire::is_event(static_cast<std::uint16_t>(change.place.kind))) change.ended = state_.physical().ended();
    switch (change.place.kind) {
      case wire::RecordKind::alloc:
        change.allocated = block_.rows<wire::AllocRecord>()[change.place.row];
        if (change.allocated.heap == heap) change.what = HeapChange::What::allocated;
        break;
      case wire::RecordKind::free:
        change.block = freed_;
        if (change.block) change.what = HeapChange::What::freed;
        break;
      case wire::RecordKind::free_requested:
        change.block = block_in(block_.rows<wire::FreeRequestedRecord>()[change.place.row].slot);
        break;
      case wire::RecordKind::heap_gone:
        if (cleared_ != nullptr) change.went = cleared_->take(state_, heap);
        break;
      case wire::RecordKind::move:
        change.block = block_in(block_.rows<wire::MoveRecord>()[change.place.row].slot);
        break;
      default: break;
    }
    visit_(state_, change, block_);
  }
  void skip_rest() const {
    while (!cursor_.at_end()) skip(cursor_.next());
  }

 private:
  std::optional<LiveBlock> block_in(std::uint32_t slot) const {
    return slot < state_.slot_count() ? std::optional<LiveBlock>(state_.slots()[slot]) : std::nullopt;
  }
  void skip(const RecordPlace& place) const {
    if (wire::is_event(static_cast<std::uint16_t>(place.kind)) && place.event < end_) skipped_(block_, place);
  }

  const wire::DecodedBlock& block_;
  const StreamState& state_;
  std::uint64_t end_;
  const Visit& visit_;
  const Skipped& skipped_;
  ClearedBlocks* cleared_;
  mutable RecordCursor cursor_;  // Mutable because apply() takes a const observer.
  mutable std::optional<LiveBlock> freed_;
};

// Calls visit(state just after it, change, decoded block) for everything that changed a heap among the first `end`
// events and before them, and skipped(decoded block, place) for the events between that changed none, in order.
template <class Visit, class Skipped>
bool pass_over_heaps(const Stream& stream, std::uint64_t end, PassControl* control, const Visit& visit,
                     const Skipped& skipped) {
  StreamState state;
  state.make_heaps(stream.definitions());
  ClearedBlocks cleared;
  return pass_over_blocks(stream, end, control, [&](const wire::DecodedBlock& block, std::size_t number) {
    const HeapChangeObserver observer(block, state, end, visit, skipped, &cleared);
    state.apply(block, number, stream.definitions(), end, observer);
    observer.skip_rest();
  });
}

// The bytes in use that a block adds: 0 if its size is impossible, as in AddressSpace.
template <class Block>
std::uint64_t possible_size(const Block& block) {
  const bool is_possible = block.size <= AddressSpace::bytes_max && block.address + block.size >= block.address;
  return is_possible ? block.size : 0;
}

// The bytes that a new handle adds: 0 if it is left out, as in PhysicalState.
inline std::uint64_t possible_size(const wire::PhysicalCreateRecord& handle) {
  return handle.size <= AddressSpace::bytes_max ? handle.size : 0;
}

// The block of an allocation, as its record describes it; without its slot.
inline LiveBlock allocated_block(const wire::AllocRecord& record, std::uint64_t event) {
  LiveBlock block;
  block.event = event;
  block.slot = LiveBlock::no_slot;
  block.heap = record.heap;
  block.address = record.address;
  block.size = possible_size(record);
  block.requested = record.requested;
  block.stack = record.stack;
  block.stream = record.stream;
  block.tag = record.tag;
  block.flags = record.flags;
  return block;
}
inline LiveBlock allocated_block(const HeapChange& change) {
  return allocated_block(change.allocated, change.place.event);
}

}  // namespace hbmscope
