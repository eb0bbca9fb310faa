#include "analysis/trace/use_at_marks.h"

#include <algorithm>

namespace hbmscope {

void UseAtMarks::note_mark(std::uint64_t event) {
  for (const std::uint32_t heap : changed_) {
    heaps_[heap].figures.push_back({event, heaps_[heap].in_use_bytes});
    heaps_[heap].is_changed = false;
  }
  changed_.clear();
}

std::uint64_t UseAtMarks::find(std::uint32_t heap, std::uint64_t event) const {
  if (heap >= heaps_.size()) return 0;
  const SharedLog<Figure>& figures = heaps_[heap].figures;
  const auto after = std::upper_bound(figures.begin(), figures.end(), event,
                                      [](std::uint64_t wanted, const Figure& figure) { return wanted < figure.event; });
  return after == figures.begin() ? 0 : std::prev(after)->in_use_bytes;
}

std::uint64_t UseAtMarks::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const Heap& heap : heaps_) bytes += heap.figures.capacity() * sizeof(Figure);
  return bytes;
}

}  // namespace hbmscope
