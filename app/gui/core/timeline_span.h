// A span of the timeline's axis: nanoseconds since the stream's first event, or events if the stream has no times.
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
