// The figures of a heap beyond those of heap_rows.h. analysis/README.md defines each of them in one table. Figures that
// a source can't know are absent, never 0.
//
// A handle of physical memory (trace/physical_state.h) counts as a block of its heap from its creation until it is
// released and no longer mapped. Handles imported from another process don't count.
//
// Some figures describe the given time. Others accumulate from the first event up to it: one pass over the streams,
// about 150 ns per event, without memory per event.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/query/power_histogram.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct MetricsOptions {
  std::size_t high_waters_max = 32;
  std::uint64_t high_water_step_bytes = 0;  // A minimum. 0 means large enough to stay within high_waters_max.
};

// The largest request that fits into the free memory. The allocator's rounding and reserves are not taken into account,
// nor whether the pool could grow, so a larger request may well succeed.
struct LargestFit {
  std::optional<std::uint64_t> bytes;  // The largest free block. Absent if the regions are unknown.
  // For a heap with two ends: the largest free block such that no block of the other end lies between it and this end.
  // The gap in the middle counts for both. Absent for other heaps.
  std::optional<std::uint64_t> lower_end_bytes, upper_end_bytes;
};

struct HighWater {
  std::uint64_t position = 0;                  // After that many events.
  std::optional<std::int64_t> since_start_ns;  // Absent if the source has no times.
  std::uint64_t in_use_bytes = 0;
};

// The age of live blocks, or the lifetime of freed ones: events and time from the allocation to the given time or to
// the free. A block that is freed by the very next event lived for one event.
struct LifetimeHistograms {
  PowerHistogram by_events;
  std::optional<PowerHistogram> by_ns;  // Absent if the source has no times.
  // Allocated before the first event, so their age is unknown; not in the histograms.
  std::uint64_t unknown_count = 0, unknown_bytes = 0;
};

struct HeapMetrics {
  // At the given time.
  std::optional<std::uint64_t> rounding_waste_bytes;  // In use - requested; absent if requested sizes are unknown.
  LargestFit fit;
  std::optional<PowerHistogram> free_gaps;  // By size; absent if the regions are unknown. Sums are free_bytes.
  PowerHistogram live_sizes;                // By size including rounding. Sums are in_use_bytes.
  LifetimeHistograms ages;                  // Ages of live blocks, including pending ones.
  // From the first event to the given time.
  std::uint64_t allocated_bytes = 0, allocations = 0;  // Including rounding, without blocks from before the stream.
  std::optional<double> allocated_bytes_per_second;    // Absent without times, or if no time passed.
  std::optional<double> allocated_bytes_per_event;     // Per event of the stream; absent without events.
  std::optional<double> turnover;                      // Allocated bytes / peak so far; absent if that is 0.
  HighWater peak_so_far;                               // Includes blocks from before the first event (position 0).
  std::uint64_t high_water_step_bytes = 0;
  std::vector<HighWater> high_waters;  // Each at least a step above the previous one, the first above 0.
  LifetimeHistograms lifetimes;        // Blocks whose free completed, not those that disappeared with their heap.
};

// One per heap, in the order of compute_heap_rows. Returns nothing if it was cancelled.
std::optional<std::vector<HeapMetrics>> compute_heap_metrics(const Trace& trace, const std::vector<StreamState>& states,
                                                             const MetricsOptions& options = {},
                                                             PassControl* control = nullptr);

// Divides the free blocks of a two-ended heap. A free block belongs to the lower end if it begins below all blocks of
// the upper end, and to the upper end if it ends above all blocks of the lower end. It may belong to both or neither.
struct EndBounds {
  std::uint64_t first_upper = ~std::uint64_t{0}, last_lower = 0;
  bool is_for_lower(AddressRange piece) const { return piece.begin < first_upper; }
  bool is_for_upper(AddressRange piece) const { return piece.end > last_lower; }
};
EndBounds find_end_bounds(const StreamState& state, std::uint32_t heap);

// For one heap at a given time; needs no pass.
LargestFit find_largest_fit(const HeapInfo& info, const StreamState& state);

}  // namespace hbmscope
