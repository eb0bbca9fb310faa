// The other heaps of a process beside the one that a timeline is of: the tiers of a TPU, the pool in a driver's memory,
// other devices. What of each is in use, on the same axis.
#pragma once

#include "app/gui/core/course.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_heaps_max = 8;  // What is more is left out, and counted.

// Into `heaps` of the timeline, whose heap and span must be there, without columns: those of its stream that ever held
// anything, other kinds of memory first (VMEM beside HBM), then by device.
void add_heaps(const Stream& stream, TimelineColumns& timeline);

// The columns of one of them from the stream's own timeline; each bucket's extremes are in all columns that it covers.
void take_heap_buckets(const Stream& stream, StreamPositions positions, std::size_t count, TimelineColumns& timeline);

// Takes in what is in use after one event after the other.
class HeapCourses {
 public:
  HeapCourses(TimelineColumns& timeline, std::size_t count, const StreamState& first);
  void add(const StreamState& now, std::uint32_t changed, std::size_t column);
  void finish();

 private:
  std::vector<Course<Band>> courses_;   // By TimelineColumns::heaps.
  std::vector<std::size_t> course_of_;  // By heap id; no_course: not among them.
};

}  // namespace hbmscope::gui
