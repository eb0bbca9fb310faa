#include "app/gui/core/timeline_heaps.h"

#include <algorithm>
#include <utility>

#include "analysis/query/block_list_rows.h"
#include "analysis/trace/layers.h"

namespace hbmscope::gui {
namespace {

// A memory with a few bytes of flags would take the room of a lane, and shows nothing.
constexpr std::uint64_t least_shown_bytes = 4096;
constexpr std::size_t no_course = ~std::size_t{0};

// Adds the device to names that several heaps share.
void make_names_unique(const Stream& stream, std::vector<TimelineHeap>& heaps) {
  const auto name_of = [&](const TimelineHeap& heap) { return name_of_heap(stream.definitions().heap(heap.heap)); };
  for (TimelineHeap& heap : heaps) {
    const HeapInfo& info = stream.definitions().heap(heap.heap);
    heap.name = name_of(heap);
    const auto same =
        std::count_if(heaps.begin(), heaps.end(), [&](const auto& each) { return name_of(each) == heap.name; });
    if (same > 1 && info.device != wire::no_device) heap.name += " of device " + std::to_string(info.device);
  }
}

}  // namespace

void add_heaps(const Stream& stream, TimelineColumns& timeline) {
  const Definitions& definitions = stream.definitions();
  const HeapInfo& own = definitions.heap(timeline.heap.heap);
  std::vector<std::pair<int, std::uint32_t>> found;
  for (const HeapInfo& heap : definitions.heaps()) {
    const std::uint64_t peak = stream.peak(heap.id).in_use_bytes;
    if (heap.id == 0 || heap.id == own.id || peak == 0) continue;
    if (peak < least_shown_bytes && peak < stream.peak(own.id).in_use_bytes) continue;
    const bool is_other_kind = heap.memory_kind != own.memory_kind, is_of_device = heap.device == own.device;
    const int rank = is_host_kind(heap.memory_kind) ? 4 : is_other_kind ? (is_of_device ? 0 : 1) : is_of_device ? 2 : 3;
    found.emplace_back(rank, heap.id);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  timeline.heaps_left_out = found.size() - std::min(found.size(), timeline_heaps_max);
  found.resize(found.size() - timeline.heaps_left_out);
  for (const auto& [rank, id] : found) {
    TimelineHeap& heap = timeline.heaps.emplace_back();
    heap.heap = id;
    heap.is_other_kind = rank < 2;
    heap.peak = stream.peak(id).in_use_bytes;
    bool knows_regions = true;
    for (const TimelineBucket& bucket : stream.timeline(id).buckets(0, stream.end_position(), 1)) {
      knows_regions &= bucket.knows_regions;
      heap.pool = std::max(heap.pool, bucket.most.pool);
    }
    if (!knows_regions) heap.pool = 0;
  }
  make_names_unique(stream, timeline.heaps);
}

HeapCourses::HeapCourses(TimelineColumns& timeline, std::size_t count,
                         const std::function<Band(std::uint32_t)>& first_of) {
  for (TimelineHeap& heap : timeline.heaps) {
    if (course_of_.size() <= heap.heap) course_of_.resize(heap.heap + 1, no_course);
    course_of_[heap.heap] = courses_.size();
    courses_.emplace_back(heap.columns, count, first_of(heap.heap));
  }
}

void HeapCourses::add(std::uint32_t heap, Band range, Band last, std::size_t column) {
  if (heap < course_of_.size() && course_of_[heap] != no_course) courses_[course_of_[heap]].add(range, last, column);
}

void HeapCourses::finish() {
  for (Course<Band>& course : courses_) course.finish();
}

}  // namespace hbmscope::gui
