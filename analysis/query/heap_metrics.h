// The figures of a heap beyond those of heap_rows.h, each with one definition; analysis/README.md has all of them in
// one table. What a source can't know is absent, never 0.
//
// A handle of physical memory (trace/physical_state.h) counts as a block of its heap, from when it was made until it is
// released and under no address any more; one that came from another process does not.
//
// Some are of the moment; others count from the first event to the moment: one pass over the streams, about 150 ns an
// event, with no memory an event.
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
  std::uint64_t high_water_step_bytes = 0;  // At least; 0: what keeps them within their number.
};

// The largest request that fits into what is free. What the allocator would round it up to, and what it keeps for
// others, is not known; neither is whether the pool could still grow, so a larger request may well succeed.
struct LargestFit {
  std::optional<std::uint64_t> bytes;  // The largest free block. Absent where regions are not told.
  // Of a heap with two ends: the largest free block with no block of the other end between it and this end. The gap in
  // the middle counts for both. Absent of other heaps.
  std::optional<std::uint64_t> lower_end_bytes, upper_end_bytes;
};

struct HighWater {
  std::uint64_t position = 0;                  // After so many events.
  std::optional<std::int64_t> since_start_ns;  // Absent where the source has no times.
  std::uint64_t in_use_bytes = 0;
};

// How old blocks are, or how old they became: events and time between an allocation and the moment, or its free. A
// block's own event counts: freed by the very next event, it lived for one.
struct LifetimeHistograms {
  PowerHistogram by_events;
  std::optional<PowerHistogram> by_ns;  // Absent where the source has no times.
  // From before the first event: older than the trace, nobody knows by how much; in no histogram.
  std::uint64_t unknown_count = 0, unknown_bytes = 0;
};

struct HeapMetrics {
  // At the moment.
  std::optional<std::uint64_t> rounding_waste_bytes;  // In use - requested; absent where requests are not told.
  LargestFit fit;
  std::optional<PowerHistogram> free_gaps;  // By size; absent where regions are not told. Sums are free_bytes.
  PowerHistogram live_sizes;                // By size, rounding included. Sums are in_use_bytes.
  LifetimeHistograms ages;                  // Of live blocks, pending ones too.
  // From the first event to the moment.
  std::uint64_t allocated_bytes = 0, allocations = 0;  // Rounding included; what lived before is not in it.
  std::optional<double> allocated_bytes_per_second;    // Absent without times, or where none has passed.
  std::optional<double> allocated_bytes_per_event;     // Of all events of the stream; absent without any.
  std::optional<double> turnover;                      // Allocated bytes / peak so far; absent where that is 0.
  HighWater peak_so_far;                               // What lived before the first event counts: position 0.
  std::uint64_t high_water_step_bytes = 0;
  std::vector<HighWater> high_waters;  // Each at least a step above the one before it, the first above 0.
  LifetimeHistograms lifetimes;  // Of blocks whose free is completed. Those that went with their heap are not in it.
};

// One a heap, in the order of compute_heap_rows. Nothing where it was cancelled.
std::optional<std::vector<HeapMetrics>> compute_heap_metrics(const Trace& trace, const std::vector<StreamState>& states,
                                                             const MetricsOptions& options = {},
                                                             PassControl* control = nullptr);

// What bounds the ends of a two-ended heap: a free piece is the lower end's if it begins below all blocks of the upper
// end, the upper end's if it ends above all blocks of the lower; it may be both's, or neither's.
struct EndBounds {
  std::uint64_t first_upper = ~std::uint64_t{0}, last_lower = 0;
  bool is_for_lower(AddressRange piece) const { return piece.begin < first_upper; }
  bool is_for_upper(AddressRange piece) const { return piece.end > last_lower; }
};
EndBounds find_end_bounds(const StreamState& state, std::uint32_t heap);

// Of one heap at a moment; no pass is needed.
LargestFit find_largest_fit(const HeapInfo& info, const StreamState& state);

}  // namespace hbmscope
