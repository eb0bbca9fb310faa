// Bytes in use of the process's other heaps on the same axis: the tiers of a TPU, the pool inside the driver's memory,
// other devices.
#pragma once

#include "app/gui/core/course.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_heaps_max = 8;  // The rest is left out and counted.

// Fills `heaps` of the timeline, whose heap and span must be set, without columns. It takes heaps of the stream that
// ever held anything: other kinds of memory first (VMEM for an HBM timeline), then by device, the host's last.
void add_heaps(const Stream& stream, TimelineColumns& timeline);

// Fills their columns from the stream's own timeline. A bucket's extremes go into all columns that it covers.
void take_heap_buckets(const Stream& stream, StreamPositions positions, std::size_t count, TimelineColumns& timeline);

// Adds the bytes in use after each event, one event at a time.
class HeapCourses {
 public:
  HeapCourses(TimelineColumns& timeline, std::size_t count, const StreamState& first);
  void add(const StreamState& now, std::uint32_t changed, std::size_t column);
  void finish();

 private:
  std::vector<Course<Band>> courses_;   // Indexed like TimelineColumns::heaps.
  std::vector<std::size_t> course_of_;  // By heap id; no_course: not included.
};

}  // namespace hbmscope::gui
