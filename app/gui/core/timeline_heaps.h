// Bytes in use of the process's other heaps on the same axis: the tiers of a TPU, the pool inside the driver's memory,
// other devices.
#pragma once

#include <functional>

#include "app/gui/core/course.h"
#include "app/gui/core/timeline_columns.h"

namespace hbmscope::gui {

inline constexpr std::size_t timeline_heaps_max = 8;  // The rest is left out and counted.

// Fills `heaps` of the timeline, whose heap and span must be set, without columns. It takes heaps of the stream that
// ever held anything: other kinds of memory first (VMEM for an HBM timeline), then by device, the host's last.
void add_heaps(const Stream& stream, TimelineColumns& timeline);

// Fills their columns.
class HeapCourses {
 public:
  // first_of(heap id): its bytes in use at the start of the columns.
  HeapCourses(TimelineColumns& timeline, std::size_t count, const std::function<Band(std::uint32_t)>& first_of);
  void add(std::uint32_t heap, Band range, Band last, std::size_t column);
  void finish();

 private:
  std::vector<Course<Band>> courses_;   // Indexed like TimelineColumns::heaps.
  std::vector<std::size_t> course_of_;  // By heap id; no_course: not included.
};

}  // namespace hbmscope::gui
