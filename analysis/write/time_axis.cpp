#include "analysis/write/time_axis.h"

#include <algorithm>
#include <limits>

namespace hbmscope {
namespace {

// Which clocks relate the stream to others: the time of day counts more than a counter, which needs two readings.
int clocks_reported(const Stream& stream) {
  const auto& readings = stream.clocks().readings();
  const auto counters =
      std::count_if(readings.begin(), readings.end(), [](const ClockReading& r) { return r.tsc != 0; });
  const bool has_day =
      std::any_of(readings.begin(), readings.end(), [](const ClockReading& r) { return r.realtime_ns != 0; });
  return (has_day ? 2 : 0) + (counters > 1 ? 1 : 0);
}

}  // namespace

std::vector<StreamAxis> find_stream_axes(const Trace& trace) {
  const Stream* reference = nullptr;
  for (const Stream& stream : trace.streams)
    if (stream.has_times() && (reference == nullptr || clocks_reported(stream) > clocks_reported(*reference)))
      reference = &stream;
  std::vector<StreamAxis> axes(trace.streams.size());
  std::int64_t zero_ns = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const Stream& stream = trace.streams[i];
    if (!stream.has_times()) continue;
    StreamAxis& axis = axes[i];
    if (&stream != reference) axis.bridge_ = ClockBridge::find(stream.clocks(), reference->clocks());
    const bool is_shared = &stream == reference || axis.bridge_;
    axis.kind_ = is_shared ? StreamAxis::Kind::shared : StreamAxis::Kind::own_clock;
    axis.zero_ns_ = stream.first_time_ns();
    const std::int64_t first_ns = stream.first_time_ns();
    if (is_shared) zero_ns = std::min(zero_ns, axis.bridge_ ? axis.bridge_->time_on_other(first_ns) : first_ns);
  }
  for (StreamAxis& axis : axes)
    if (axis.kind_ == StreamAxis::Kind::shared) axis.zero_ns_ = zero_ns;
  return axes;
}

}  // namespace hbmscope
