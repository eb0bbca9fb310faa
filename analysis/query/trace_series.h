// A trace as one of many: which run was it, how full did it get, did it fail. Of that its counts, peaks and curves are
// enough (Stream::Keeps::curves).
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
  // The highest bytes in use in each of some stretches, which are equally long, in time or where there is none in
  // events; their borders to a five-hundredth of it all.
  std::vector<std::uint64_t> curve;
};

struct TraceSeriesPoint {
  std::string file;
  std::uint64_t begun_ms = 0;               // Since 1970; 0: unknown.
  std::optional<std::int64_t> duration_ns;  // From the first event to the last one.
  EventCounts events;
  bool is_finished = true;        // Else its writer was stopped, and it has what was written by then.
  std::vector<SeriesHeap> heaps;  // Those that make up the total (trace/layers.h), if they held anything.
};

// With curves of so many stretches.
TraceSeriesPoint compute_trace_series_point(const Trace& trace, std::size_t curve_stretches);

// By when they began, or as they are where one is unknown.
void sort_trace_series(std::vector<TraceSeriesPoint>& points);

}  // namespace hbmscope
