// Follows the live bytes of one heap, divided into groups of blocks (lines of code, categories, ...), over its events.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/trace/pass.h"
#include "analysis/trace/pass_from.h"

namespace hbmscope {

// Groups: number_of(LiveBlock) and number_of(PhysicalHandle) return the number of the group, counted from 0; the same
// one for a block's allocation and for its free.
// Visitor: changed(group, live bytes) whenever the live bytes of a group change, then point(state, position, time in
// ns) after each event that changed the heap and after each listing of it. The sum over all groups is the heap's bytes
// in use, except in a damaged stream, whose moves may lead beyond the last address.
template <class Groups, class Visitor>
class GroupWalk {
 public:
  GroupWalk(const Stream& stream, std::uint32_t heap, Groups& groups, Visitor& visitor)
      : stream_(stream), heap_(heap), groups_(groups), visitor_(visitor) {}

  // From `state`, whose live blocks are counted first and are a point, up to the position `end`. go_on(events of a
  // block) is called after each block. False if it ended the walk.
  template <class GoOn>
  bool run(StreamState& state, std::uint64_t end, const GoOn& go_on) {
    state.make_heaps(stream_.definitions());
    if (state.position() > 0 || state.in_use_bytes(heap_) > 0) {
      list(state);
      visitor_.point(state, state.position(), state.time_ns());
    }
    return pass_from(stream_, state, end, go_on,
                     [&](const wire::DecodedBlock& block) { return Observer(*this, block, state, end); });
  }

 private:
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
      walk_.visitor_.point(state_, position, time_ns);
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
    visitor_.point(state, change.position, change.time_ns);
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
  std::vector<std::uint64_t> live_;  // By group.
  std::uint64_t sum_ = 0;            // The sum over live_.
  std::uint64_t without_group_ = 0;  // What a damaged stream counts in addition; the sums may wrap around.
  std::uint64_t in_use_ = 0;         // At the last point.
};

}  // namespace hbmscope
