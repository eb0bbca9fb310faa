// Places the streams of a trace on a common time axis. Each stream has its own clock. Streams that clock records relate
// to each other share an axis that starts at the first event of all of them. A stream that is not related to the
// others, or has no times, has its own axis.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

class StreamAxis {
 public:
  enum class Kind : std::uint8_t {
    shared,     // ns since the first event of all streams on it.
    own_clock,  // ns since the stream's own first event.
    no_times,   // Event numbers.
  };

  Kind kind() const { return kind_; }
  // Only for an axis with times. 0 for times before its first event (a clock that stepped back).
  std::uint64_t since_zero_ns(std::int64_t time_ns) const {
    const std::int64_t at_ns = bridge_ ? bridge_->time_on_other(time_ns) : time_ns;
    return at_ns < zero_ns_ ? 0 : static_cast<std::uint64_t>(at_ns) - static_cast<std::uint64_t>(zero_ns_);
  }

 private:
  friend std::vector<StreamAxis> find_stream_axes(const Trace& trace);
  Kind kind_ = Kind::no_times;
  std::optional<ClockBridge> bridge_;  // To the clock of the shared axis. None means the stream's own clock.
  std::int64_t zero_ns_ = 0;
};

// By stream. The shared axis uses the clock of the stream with the best clock records.
std::vector<StreamAxis> find_stream_axes(const Trace& trace);

}  // namespace hbmscope
