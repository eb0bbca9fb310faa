// A trace as one point of a series: which run it was, how full memory got, and whether it failed. Counts, peaks and
// curves are enough for that (Stream::Keeps::curves).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct SeriesHeap {
  std::string label;  // "GPU 0", "GPU 0 (rank 3)"
  std::string layer;
  std::optional<std::uint32_t> device;
  std::uint64_t peak_in_use_bytes = 0;
  std::uint64_t in_use_bytes = 0;  // At the end.
  bool is_peak_inexact = false;    // See HeapPeak.
  // The highest bytes in use in each of several intervals of equal length, in time, or in events if there are no times.
  // Interval borders are accurate to 1/500 of the total.
  std::vector<std::uint64_t> curve;
};

struct TraceSeriesPoint {
  std::string file;
  std::uint64_t begun_ms = 0;               // Since 1970. 0 if unknown.
  std::optional<std::int64_t> duration_ns;  // From the first event to the last one.
  EventCounts events;
  bool is_finished = true;        // Else its writer was stopped, and the rest is missing.
  std::vector<SeriesHeap> heaps;  // Those that make up the total (trace/layers.h) and held anything.
};

// `curve_stretches` is the number of intervals.
TraceSeriesPoint compute_trace_series_point(const Trace& trace, std::size_t curve_stretches);

// By start time, or unchanged if one is unknown.
void sort_trace_series(std::vector<TraceSeriesPoint>& points);

}  // namespace hbmscope
