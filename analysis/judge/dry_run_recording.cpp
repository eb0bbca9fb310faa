#include "analysis/judge/dry_run_recording.h"

#include <algorithm>
#include <limits>
#include <string>

#include "analysis/judge/dry_run.h"

namespace hbmscope {
namespace {

// The most that the pool had from the driver; 0: unknown.
std::uint64_t pool_peak_of(const Stream& stream, std::uint32_t heap) {
  std::uint64_t bytes = 0;
  for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, std::numeric_limits<std::uint64_t>::max(), 1)) {
    if (bucket.is_inexact || !bucket.knows_regions) return 0;
    bytes = std::max(bytes, bucket.most.pool);
  }
  return bytes;
}

void raise(std::optional<std::uint64_t>& peak, std::uint64_t recorded) {
  if (recorded != 0) peak = std::max(peak.value_or(0), recorded);
}

void take_peaks(const Stream& stream, FrameworkUse& use) {
  for (const HeapInfo& heap : stream.definitions().heaps()) {
    if (!heap.has(wire::heap_flag::is_inside_of_driver) || heap.memory_kind != "device" || heap.device != use.ordinal)
      continue;
    const HeapPeak peak = stream.peak(heap.id);
    if (!peak.is_inexact) raise(use.peak_in_use_bytes, peak.in_use_bytes);
    raise(use.peak_pool_bytes, pool_peak_of(stream, heap.id));
  }
}

}  // namespace

void take_recorded_peaks(const Trace& trace, std::span<DeviceNeed> needs) {
  for (DeviceNeed& need : needs)
    for (FrameworkUse& use : need.frameworks)
      for (const Stream& stream : trace.streams)
        if (stream.definitions().job_fact("process") == std::to_string(use.pid)) take_peaks(stream, use);
}

}  // namespace hbmscope
