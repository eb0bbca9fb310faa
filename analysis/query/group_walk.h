// Follows the live bytes of one heap, divided into groups of blocks (lines of code, categories, ...), over its events.
//
// A trace of ten million events with a million live blocks: a StreamState keeps a hundred bytes of each block, and
// every event waits for several of them. A walk needs sixteen, the size and the group. So it leaves the state behind
// for as long as the stream is ordinary (Stream::end_of_plain_sizes), and goes back to it for whatever is not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/trace/pass.h"
#include "analysis/trace/take_slot.h"

namespace hbmscope {

struct GroupPoint {
  std::uint64_t position = 0;
  std::int64_t time_ns = 0;
  std::uint64_t in_use_bytes = 0;
  bool is_inexact = false;  // As StreamState has it, like the next one.
  std::int64_t inexact_since_ns = 0;
};

// Groups: number_of(LiveBlock) and number_of(PhysicalHandle) return the number of the group, counted from 0; the same
// one for a block's allocation and for its free.
// Visitor: changed(group, live bytes) whenever the live bytes of a group change, then point(GroupPoint) after each
// event that changed the heap and after each listing of it. The sum over all groups is the heap's bytes in use, except
// in a damaged stream, whose moves may lead beyond the last address.
template <class Groups, class Visitor>
class GroupWalk {
 public:
  GroupWalk(const Stream& stream, std::uint32_t heap, Groups& groups, Visitor& visitor)
      : stream_(stream), heap_(heap), groups_(groups), visitor_(visitor) {}

  // From the position `begin`, where the live blocks are counted first and are a point, up to the position `end`.
  // go_on(events of a block) is called after each block. False if it ended the walk.
  template <class GoOn>
  bool run(std::uint64_t begin, std::uint64_t end, const GoOn& go_on) {
    StreamState state = begin == 0 ? StreamState() : stream_.state_at(begin);
    state.forget_regions();
    state.make_heaps(stream_.definitions());
    if (state.position() > 0 || state.in_use_bytes(heap_) > 0) {
      list(state);
      point(state, state.position(), state.time_ns());
    }
    const auto& blocks = stream_.blocks();
    for (std::size_t number = state.next_block(); number < blocks.size() && is_before(number, end);) {
      const std::size_t plain_end = end_of_plain_stretch(state, number);
      if (plain_end > number) {
        for (PlainSlots slots(*this, state); number < plain_end && is_before(number, end); ++number) {
          if (decoder_.decode(*blocks[number], decoded_, PlainSlots::fields())) return true;  // It was decodable.
          slots.apply(decoded_, end);
          if (!go_on(std::uint64_t{blocks[number]->header.events})) return false;
        }
        if (number == blocks.size() || !is_before(number, end)) return true;
        state = stream_.state_at(blocks[number]->header.first_event);
        state.forget_regions();
      }
      if (decoder_.decode(*blocks[number], decoded_)) break;
      state.apply(decoded_, number, stream_.definitions(), end, Observer(*this, decoded_, state, end));
      if (!go_on(std::uint64_t{blocks[number]->header.events})) return false;
      if (state.next_block() == number++) break;  // Stopped inside this block.
    }
    return true;
  }

 private:
  // The slots of the writer's table while the stream is ordinary.
  class PlainSlots {
   public:
    PlainSlots(GroupWalk& walk, const StreamState& state)
        : walk_(walk),
          point_(walk.point_at(state, 0, 0)),
          position_(state.position()),
          slots_(state.slot_count()),
          free_slots_(state.free_slots().begin(), state.free_slots().end()) {
      if (state.heap(walk.heap_).live_blocks > 0)
        for (const LiveBlock& block : state.slots())
          if (block.heap == walk.heap_)
            slots_[block.slot] = {block.size, walk.groups_.number_of(block), block.is_pending()};
    }
    static const wire::FieldChoice& fields() {
      using wire::RecordKind;
      static const wire::FieldChoice choice = wire::FieldChoice()
                                                  .only(RecordKind::free, {"slot"})
                                                  .only(RecordKind::free_requested, {"slot"})
                                                  .only(RecordKind::region_grow, {"heap"})
                                                  .only(RecordKind::region_shrink, {"heap"})
                                                  .only(RecordKind::attribute, {})
                                                  .only(RecordKind::marker, {})
                                                  .only(RecordKind::counter, {});
      return choice;
    }

    // Events before the position that it has reached are skipped.
    void apply(const wire::DecodedBlock& block, std::uint64_t end) {
      using wire::RecordKind;
      const auto kinds = block.kinds();
      const auto times = block.times_ns();
      const auto frees = block.rows<wire::FreeRecord>();
      std::size_t row[256] = {};
      std::uint64_t event = block.header().first_event;
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const std::size_t at = row[kinds[i]]++;
        if (!wire::is_event(kinds[i])) continue;
        if (event >= end) return;
        if (event++ < position_) continue;
        position_ = event;
        bool is_of_heap = false;
        switch (static_cast<RecordKind>(kinds[i])) {
          case RecordKind::alloc: is_of_heap = take(block.rows<wire::AllocRecord>()[at], event - 1); break;
          case RecordKind::free:
            if (constexpr std::size_t ahead = 16; at + ahead < frees.size() && frees[at + ahead].slot < slots_.size())
              __builtin_prefetch(&slots_[frees[at + ahead].slot], 1);
            is_of_heap = give_back(frees[at].slot);
            break;
          case RecordKind::free_requested:
            is_of_heap = request_free(block.rows<wire::FreeRequestedRecord>()[at].slot);
            break;
          case RecordKind::region_grow:
            is_of_heap = block.rows<wire::RegionGrowRecord>()[at].heap == walk_.heap_;
            break;
          case RecordKind::region_shrink:
            is_of_heap = block.rows<wire::RegionShrinkRecord>()[at].heap == walk_.heap_;
            break;
          default: break;
        }
        if (!is_of_heap) continue;
        point_.position = event;
        point_.time_ns = times[i];
        point_.in_use_bytes = walk_.in_use_;
        walk_.visitor_.point(point_);
      }
    }

   private:
    static constexpr std::uint32_t of_no_group = 0xffffffff;  // Vacant, or of another heap.
    struct Slot {
      std::uint64_t bytes = 0;
      std::uint32_t group = of_no_group;
      bool is_pending = false;
    };

    bool take(const wire::AllocRecord& record, std::uint64_t event) {
      const std::uint32_t number = take_slot(slots_, free_slots_);
      if (record.heap != walk_.heap_) return false;
      const bool is_pending = (record.flags & wire::block_flag::is_pending) != 0;
      LiveBlock block = allocated_block(record, event);
      block.slot = number;
      slots_[number] = {record.size, walk_.groups_.number_of(block), is_pending};
      walk_.add(slots_[number].group, record.size);
      walk_.in_use_ += record.size;
      return true;
    }
    bool give_back(std::uint32_t number) {
      free_slots_.push_back(number);
      Slot& slot = slots_[number];
      if (slot.group == of_no_group) return false;
      walk_.remove(slot.group, slot.bytes);
      walk_.in_use_ -= slot.bytes;
      slot.group = of_no_group;
      return true;
    }
    bool request_free(std::uint32_t number) {
      Slot& slot = slots_[number];
      if (slot.group == of_no_group || slot.is_pending) return false;
      return slot.is_pending = true;
    }

    GroupWalk& walk_;
    GroupPoint point_;
    std::uint64_t position_;
    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_slots_;  // Used as a stack.
  };

  bool is_before(std::size_t number, std::uint64_t end) const {
    return stream_.blocks()[number]->header.first_event <= end;
  }
  // Where to go back to the state: at the end of the stream, or at the last ordinary block before another one, since a
  // state can be had right before an ordinary block without anything else of it. Leaving the state costs as much as
  // some events for each block, and going back to it as much as the events after a keyframe; so short stretches are
  // none.
  std::size_t end_of_plain_stretch(const StreamState& state, std::size_t number) const {
    const auto& blocks = stream_.blocks();
    const std::size_t stop = stream_.end_of_plain_sizes(number);
    const bool is_last = stop == blocks.size();
    const std::size_t plain_end = is_last || stop == number ? stop : stop - 1;
    if (plain_end == number) return number;
    const std::uint64_t events = blocks[plain_end - 1]->end_event() - state.position();
    const std::uint64_t least = state.slot_count() + (is_last ? 0 : wire::block_events_max);
    return events >= least ? plain_end : number;
  }

  GroupPoint point_at(const StreamState& state, std::uint64_t position, std::int64_t time_ns) const {
    return {position, time_ns, state.in_use_bytes(heap_), state.is_inexact(heap_), state.inexact_since_ns(heap_)};
  }
  void point(const StreamState& state, std::uint64_t position, std::int64_t time_ns) {
    visitor_.point(point_at(state, position, time_ns));
  }

  // Forwards to HeapChangeObserver, and reports listings separately from events.
  class Observer {
   public:
    Observer(GroupWalk& walk, const wire::DecodedBlock& block, const StreamState& state, std::uint64_t end)
        : walk_(walk), state_(state), visit_{walk}, changes_(block, state, end, visit_, skipped_) {}
    Observer(const Observer&) = delete;

    void before_free(std::uint32_t slot) const { changes_.before_free(slot); }
    void listed(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
      if (heap != walk_.heap_) return;
      walk_.list(state_);
      walk_.point(state_, position, time_ns);
    }
    void operator()(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
      if (heap == walk_.heap_) changes_(position, time_ns, heap);
    }

   private:
    struct Visit {
      GroupWalk& walk;
      void operator()(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) const {
        walk.take(state, change, block);
      }
    };
    struct Skipped {
      void operator()(const wire::DecodedBlock&, const RecordPlace&) const {}
    };

    GroupWalk& walk_;
    const StreamState& state_;
    Visit visit_;
    Skipped skipped_;
    HeapChangeObserver<Visit, Skipped> changes_;
  };

  void take(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) {
    const std::uint64_t in_use = state.in_use_bytes(heap_);
    if (change.what == HeapChange::What::allocated) {
      if (in_use > in_use_) add(groups_.number_of(allocated_block(change)), in_use - in_use_);
    } else if (change.what == HeapChange::What::freed && change.block->heap == heap_) {
      remove(groups_.number_of(*change.block), change.block->size);
    } else if (change.place.kind != wire::RecordKind::heap_gone) {
      take_handles(change, block);
    }
    // Whatever else an event did: a heap that is gone, one event that ended handles of several heaps.
    if (sum_ + without_group_ != in_use) recount(state);
    in_use_ = in_use;
    point(state, change.position, change.time_ns);
  }
  void take_handles(const HeapChange& change, const wire::DecodedBlock& block) {
    if (change.place.kind == wire::RecordKind::physical_create) {
      const auto& made = block.rows<wire::PhysicalCreateRecord>()[change.place.row];
      PhysicalHandle handle;
      handle.event = change.place.event;
      handle.size = possible_size(made);
      handle.stack = made.stack;
      if (made.heap == heap_) add(groups_.number_of(handle), handle.size);
    }
    for (const PhysicalHandle& handle : change.ended)
      if (handle.heap == heap_ && !handle.is_imported) remove(groups_.number_of(handle), handle.size);
  }
  void list(const StreamState& state) {
    recount(state);
    in_use_ = state.in_use_bytes(heap_);
  }

  void add(std::uint32_t group, std::uint64_t bytes) {
    put(group, live_of(group) + bytes);
    sum_ += bytes;
  }
  void remove(std::uint32_t group, std::uint64_t bytes) {
    const std::uint64_t live = live_of(group), gone = std::min(bytes, live);
    put(group, live - gone);
    sum_ -= gone;
  }
  std::uint64_t live_of(std::uint32_t group) {
    if (group >= live_.size()) live_.resize(group + std::size_t{1});
    return live_[group];
  }
  void put(std::uint32_t group, std::uint64_t bytes) {
    if (live_of(group) == bytes) return;
    live_[group] = bytes;
    visitor_.changed(group, bytes);
  }

  // Adds up the blocks and handles that are live now.
  void recount(const StreamState& state) {
    std::vector<std::uint64_t> now(live_.size());
    const auto add_to = [&](std::uint32_t group, std::uint64_t bytes) {
      if (group >= now.size()) now.resize(group + std::size_t{1});
      now[group] += bytes;
      sum_ += bytes;
    };
    sum_ = 0;
    if (state.heap(heap_).live_blocks > 0)
      for (const LiveBlock& block : state.slots())
        if (block.heap == heap_) add_to(groups_.number_of(block), block.size);
    for (const PhysicalHandle& handle : state.physical().handles())
      if (handle.is_live() && !handle.is_imported && handle.heap == heap_)
        add_to(groups_.number_of(handle), handle.size);
    without_group_ = state.in_use_bytes(heap_) - sum_;
    for (std::uint32_t group = 0; group < now.size(); ++group) put(group, now[group]);
  }

  const Stream& stream_;
  std::uint32_t heap_;
  Groups& groups_;
  Visitor& visitor_;
  wire::BlockDecoder decoder_;
  wire::DecodedBlock decoded_;
  std::vector<std::uint64_t> live_;  // By group.
  std::uint64_t sum_ = 0;            // The sum over live_.
  std::uint64_t without_group_ = 0;  // What a damaged stream counts in addition; the sums may wrap around.
  std::uint64_t in_use_ = 0;         // At the last point.
};

}  // namespace hbmscope
