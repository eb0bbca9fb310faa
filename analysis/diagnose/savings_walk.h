// Follows the live bytes of each site of one heap over all events.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/diagnose/savings_curve.h"
#include "analysis/diagnose/savings_sites.h"
#include "analysis/trace/pass.h"
#include "analysis/trace/pass_from.h"

namespace hbmscope {

// Decides which points of a heap's curve count for its peak. It follows Stream::peak(): figures between a loss of
// events and the next listing of the heap don't count, except after the last loss if no listing follows, or if the
// source contradicts itself.
class CountedPoints {
 public:
  CountedPoints(const Stream& stream, std::uint32_t heap) : heap_(heap) {
    const StreamState last = stream.state_at(stream.end_position());
    contradicts_ = stream.definitions().heap(heap).has(wire::heap_flag::contradicts_itself);
    is_inexact_at_end_ = last.is_inexact(heap);
    inexact_since_ns_ = last.inexact_since_ns(heap);
  }
  bool count(const StreamState& state) const {
    if (!state.is_inexact(heap_) || contradicts_) return true;
    return is_inexact_at_end_ && state.inexact_since_ns(heap_) == inexact_since_ns_;
  }

 private:
  std::uint32_t heap_;
  bool contradicts_ = false, is_inexact_at_end_ = false;
  std::int64_t inexact_since_ns_ = 0;
};

// Visitor: changed(site, live bytes) whenever the live bytes of a site change, then point(UsePoint) after each event
// that changed the heap and after each listing of it, if the point counts. The sum over all sites is the heap's bytes
// in use, except in a damaged stream, whose moves may lead beyond the last address.
template <class Visitor>
class SiteWalk {
 public:
  SiteWalk(const Stream& stream, std::uint32_t heap, SiteTable& sites, Visitor& visitor)
      : stream_(stream), heap_(heap), counted_(stream, heap), sites_(sites), visitor_(visitor) {}

  bool run(PassControl* control) {  // False: it was cancelled.
    StreamState state;
    const auto go_on = [control](std::uint64_t events) {
      if (control != nullptr) control->done_events += events;
      return control == nullptr || !control->cancelled;
    };
    return pass_from(stream_, state, stream_.end_position(), go_on, [&](const wire::DecodedBlock& block) {
      return Observer(*this, block, state, stream_.end_position());
    });
  }

 private:
  // Forwards to HeapChangeObserver, and reports listings separately from events.
  class Observer {
   public:
    Observer(SiteWalk& walk, const wire::DecodedBlock& block, const StreamState& state, std::uint64_t end)
        : walk_(walk), state_(state), visit_{walk}, changes_(block, state, end, visit_, skipped_) {}
    Observer(const Observer&) = delete;

    void before_free(std::uint32_t slot) const { changes_.before_free(slot); }
    void listed(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
      if (heap == walk_.heap_) walk_.list(state_, {0, position, time_ns});
    }
    void operator()(std::uint64_t position, std::int64_t time_ns, std::uint32_t heap) const {
      if (heap == walk_.heap_) changes_(position, time_ns, heap);
    }

   private:
    struct Visit {
      SiteWalk& walk;
      void operator()(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) const {
        walk.take(state, change, block);
      }
    };
    struct Skipped {
      void operator()(const wire::DecodedBlock&, const RecordPlace&) const {}
    };

    SiteWalk& walk_;
    const StreamState& state_;
    Visit visit_;
    Skipped skipped_;
    HeapChangeObserver<Visit, Skipped> changes_;
  };

  void take(const StreamState& state, const HeapChange& change, const wire::DecodedBlock& block) {
    const std::uint64_t in_use = state.in_use_bytes(heap_);
    if (change.what == HeapChange::What::allocated) {
      if (in_use > in_use_) add(sites_.number_of(allocated_block(change)), in_use - in_use_);
    } else if (change.what == HeapChange::What::freed && change.block->heap == heap_) {
      remove(sites_.number_of(*change.block), change.block->size);
    } else if (change.place.kind != wire::RecordKind::heap_gone) {
      take_handles(change, block);
    }
    // Whatever else an event did: a heap that is gone, one event that ended handles of several heaps.
    if (sum_ + without_site_ != in_use) recount(state);
    finish(state, {in_use, change.position, change.time_ns});
  }
  void take_handles(const HeapChange& change, const wire::DecodedBlock& block) {
    if (change.place.kind == wire::RecordKind::physical_create) {
      const auto& made = block.rows<wire::PhysicalCreateRecord>()[change.place.row];
      PhysicalHandle handle;
      handle.event = change.place.event;
      handle.size = possible_size(made);
      handle.stack = made.stack;
      if (made.heap == heap_) add(sites_.number_of(handle), handle.size);
    }
    for (const PhysicalHandle& handle : change.ended)
      if (handle.heap == heap_ && !handle.is_imported) remove(sites_.number_of(handle), handle.size);
  }
  void list(const StreamState& state, UsePoint point) {
    recount(state);
    point.in_use_bytes = state.in_use_bytes(heap_);
    finish(state, point);
  }
  void finish(const StreamState& state, UsePoint point) {
    in_use_ = point.in_use_bytes;
    if (!counted_.count(state)) return;
    if (point.position == 0) point.time_ns = 0;
    visitor_.point(point);
  }

  static LiveBlock allocated_block(const HeapChange& change) {
    LiveBlock block;
    block.event = change.place.event;
    block.size = possible_size(change.allocated);
    block.stack = change.allocated.stack;
    block.tag = change.allocated.tag;
    return block;
  }

  void add(std::uint32_t site, std::uint64_t bytes) {
    put(site, live_of(site) + bytes);
    sum_ += bytes;
  }
  void remove(std::uint32_t site, std::uint64_t bytes) {
    const std::uint64_t live = live_of(site), gone = std::min(bytes, live);
    put(site, live - gone);
    sum_ -= gone;
  }
  std::uint64_t live_of(std::uint32_t site) {
    if (site >= live_.size()) live_.resize(site + std::size_t{1});
    return live_[site];
  }
  void put(std::uint32_t site, std::uint64_t bytes) {
    if (live_of(site) == bytes) return;
    live_[site] = bytes;
    visitor_.changed(site, bytes);
  }

  // Adds up the blocks and handles that are live now.
  void recount(const StreamState& state) {
    std::vector<std::uint64_t> now(live_.size());
    const auto add_to = [&](std::uint32_t site, std::uint64_t bytes) {
      if (site >= now.size()) now.resize(site + std::size_t{1});
      now[site] += bytes;
      sum_ += bytes;
    };
    sum_ = 0;
    if (state.heap(heap_).live_blocks > 0)
      for (const LiveBlock& block : state.slots())
        if (block.heap == heap_) add_to(sites_.number_of(block), block.size);
    for (const PhysicalHandle& handle : state.physical().handles())
      if (handle.is_live() && !handle.is_imported && handle.heap == heap_)
        add_to(sites_.number_of(handle), handle.size);
    without_site_ = state.in_use_bytes(heap_) - sum_;
    for (std::uint32_t site = 0; site < now.size(); ++site) put(site, now[site]);
  }

  const Stream& stream_;
  std::uint32_t heap_;
  CountedPoints counted_;
  SiteTable& sites_;
  Visitor& visitor_;
  std::vector<std::uint64_t> live_;  // By site.
  std::uint64_t sum_ = 0;            // Of live_.
  std::uint64_t without_site_ = 0;   // What a damaged stream counts in addition; the sums may wrap around.
  std::uint64_t in_use_ = 0;         // At the last point.
};

}  // namespace hbmscope
