// A heap's figures over time at every zoom level: minima and maxima of its events, at most 256 to a bucket, and eight
// buckets to one of the next level. Drawing ten million events reads some thousand buckets and never misses a peak.
//
// In a long stream, from `narrow_from` on, a bucket also ends where the next event comes much later, so that it is
// narrow in a picture of the whole; between two buckets, the last figures of the first one hold. What comes before is
// quickly replayed.
//
// A timeline only grows; a copy shares the existing buckets and does not see later ones (SharedLog).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "allocator/reference/interface/fragmentation.h"
#include "analysis/model/shared_log.h"
#include "analysis/trace/stream_state.h"

namespace hbmscope {

// A heap's figures after an event, in bytes. The bucket's knows_ flags tell which figures the source reports.
struct TimelineFigures {
  std::uint64_t in_use = 0, requested = 0;
  std::uint64_t pool = 0, largest_free = 0;  // Valid if the heap's regions are known.
  float external_fragmentation = -1;         // -1: undefined because nothing was free, or unknown.
};

struct TimelineBucket {
  std::uint64_t first_position = 0;  // After its first event. The last figures hold until the next bucket.
  std::int64_t first_time_ns = 0;
  std::uint64_t last_position = 0;  // After its last event.
  std::int64_t last_time_ns = 0;
  std::uint64_t most_position = 0;  // After the first event with the most bytes in use.
  std::uint64_t changes = 0;        // Events of the heap, and what was listed of it.
  TimelineFigures least, most, last;
  bool knows_requested = true, knows_regions = true;  // At every event.
  bool is_inexact = false;                            // At one event at least: events were lost.

  // Defined at one event at least; the extremes cover only those.
  bool has_fragmentation() const { return most.external_fragmentation >= 0; }
  void add(const TimelineBucket& later);
};

class Timeline {
 public:
  static constexpr std::uint64_t bucket_events = 256;
  static constexpr std::size_t fan = 8;
  // No bucket has events on both sides of this position. Later ones are no wider than a part of what came before them,
  // in events and in time.
  static constexpr std::uint64_t narrow_from = 1'000'000;
  static constexpr std::int64_t parts = 2048;

  void add(std::uint64_t position, std::int64_t time_ns, const StreamState& state, std::uint32_t id) {
    const HeapState& heap = state.heap(id);
    const PhysicalBytes& physical = state.physical().heap(id);
    const TimelineFigures now = figures_of(heap, physical);
    if (open_.changes > 0 && (time_ns > open_until_ns_ || position > open_until_)) close_bucket();
    if (open_.changes == 0) {
      begin_bucket(position, time_ns, now);
    } else {
      open_.least.in_use = std::min(open_.least.in_use, now.in_use);
      if (now.in_use > open_.most.in_use) {
        open_.most.in_use = now.in_use;
        open_.most_position = position;
      }
      open_.least.requested = std::min(open_.least.requested, now.requested);
      open_.most.requested = std::max(open_.most.requested, now.requested);
      open_.least.pool = std::min(open_.least.pool, now.pool);
      open_.most.pool = std::max(open_.most.pool, now.pool);
      open_.least.largest_free = std::min(open_.least.largest_free, now.largest_free);
      open_.most.largest_free = std::max(open_.most.largest_free, now.largest_free);
    }
    open_.last = now;
    open_.last_position = position;
    open_.last_time_ns = time_ns;
    open_.most.external_fragmentation = std::max(open_.most.external_fragmentation, now.external_fragmentation);
    if (now.external_fragmentation >= 0)
      open_.least.external_fragmentation = std::min(open_.least.external_fragmentation, now.external_fragmentation);
    open_.knows_requested &= heap.unknown_requests == 0;
    open_.knows_regions &= heap.space.knows_regions();
    open_.is_inexact |= state.is_inexact(id);
    if (++open_.changes == bucket_events) close_bucket();
  }

  bool empty() const { return changes_ == 0 && open_.changes == 0; }
  std::uint64_t changes() const { return changes_ + open_.changes; }
  // By level: 0 is the finest. The open bucket, if it has events, follows the last one of each level.
  std::size_t levels() const { return levels_.size(); }
  const SharedLog<TimelineBucket, 8>& level(std::size_t level) const { return levels_[level]; }
  std::uint64_t memory_bytes() const;

  // Covers the positions from `begin` to `end` with about `wanted` buckets, or with all if there are fewer. The last
  // bucket before `begin` comes first, because it has the figures at `begin`.
  std::vector<TimelineBucket> buckets(std::uint64_t begin, std::uint64_t end, std::size_t wanted) const;

 private:
  static TimelineFigures figures_of(const HeapState& heap, const PhysicalBytes& physical) {
    TimelineFigures now;
    now.in_use = heap.in_use_bytes + physical.owned_bytes;
    now.requested = heap.requested_bytes + physical.owned_bytes;  // A handle has exactly the requested size.
    if (heap.space.knows_regions()) {
      now.pool = *heap.space.region_bytes();
      now.largest_free = *heap.space.largest_free();
      now.external_fragmentation =
          external_fragmentation_of<float>(*heap.space.free_bytes(), now.largest_free).value_or(-1);
    }
    return now;
  }
  void begin_bucket(std::uint64_t position, std::int64_t time_ns, const TimelineFigures& now);
  void close_bucket();
  void push(std::size_t level, const TimelineBucket& bucket);

  std::vector<SharedLog<TimelineBucket, 8>> levels_;
  TimelineBucket open_;
  std::uint64_t open_until_ = 0;  // The last position and time of the open bucket.
  std::int64_t open_until_ns_ = 0;
  std::int64_t begin_ns_ = 0;  // Of the first bucket.
  std::uint64_t changes_ = 0;  // In closed buckets.
};

}  // namespace hbmscope
