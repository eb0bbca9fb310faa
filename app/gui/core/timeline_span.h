// A stretch of the timeline's axis: nanoseconds since the first event of a stream, or events where it has no times.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

struct TimelineSpan {
  std::int64_t begin = 0, end = 0;

  bool empty() const { return begin >= end; }
  std::int64_t length() const { return end - begin; }
  friend bool operator==(const TimelineSpan&, const TimelineSpan&) = default;
};

}  // namespace hbmscope::gui
