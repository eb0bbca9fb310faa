// Where the streams of a trace lie on one axis of time. Each has its own clock; those that clock records relate to one
// another share an axis, whose 0 is the first event of all of them. A stream that nothing relates to the others, and
// one without times, has an axis of its own.
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
    no_times,   // Numbers of events.
  };

  Kind kind() const { return kind_; }
  // Of an axis that has times. 0 for what is before its first event: a clock that stepped back.
  std::uint64_t since_zero_ns(std::int64_t time_ns) const {
    const std::int64_t at_ns = bridge_ ? bridge_->time_on_other(time_ns) : time_ns;
    return at_ns < zero_ns_ ? 0 : static_cast<std::uint64_t>(at_ns) - static_cast<std::uint64_t>(zero_ns_);
  }

 private:
  friend std::vector<StreamAxis> find_stream_axes(const Trace& trace);
  Kind kind_ = Kind::no_times;
  std::optional<ClockBridge> bridge_;  // To the clock that the shared axis has; none: the stream's own.
  std::int64_t zero_ns_ = 0;
};

// By stream. The shared axis goes by the clock of the stream that knows the most about its clock.
std::vector<StreamAxis> find_stream_axes(const Trace& trace);

}  // namespace hbmscope
