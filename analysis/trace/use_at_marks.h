// What each heap had in use when a marker came, noted while a stream is read: the figures of all steps of a job,
// without a replay. A marker before which a heap did not change takes no memory in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/shared_log.h"

namespace hbmscope {

// A copy does not see what is noted later, and costs a few pointers for each heap.
class UseAtMarks {
 public:
  void make_heaps(std::size_t count) { heaps_.resize(count); }  // More than before, or as many.
  // After each change. Before it, note_mark() must have had all markers up to there.
  void note_change(std::uint32_t heap, std::uint64_t in_use_bytes) {
    Heap& changed = heaps_[heap];
    changed.in_use_bytes = in_use_bytes;
    if (!changed.is_changed) changed_.push_back(heap);
    changed.is_changed = true;
  }
  void note_mark(std::uint64_t event);  // In the order of events.

  // Bytes in use before the marker's event.
  std::uint64_t find(std::uint32_t heap, std::uint64_t event) const;
  std::uint64_t memory_bytes() const;

 private:
  struct Figure {
    std::uint64_t event = 0, in_use_bytes = 0;
  };
  struct Heap {
    SharedLog<Figure> figures;
    std::uint64_t in_use_bytes = 0;  // Now.
    bool is_changed = false;         // Since the last marker.
  };
  std::vector<Heap> heaps_;
  std::vector<std::uint32_t> changed_;  // Since the last marker.
};

}  // namespace hbmscope
