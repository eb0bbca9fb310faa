// The heaps of a trace, grouped by device, for the tree in Sources. The list of heaps never changes; their contents are
// looked up at the selected time.
#pragma once

#include <string>
#include <vector>

#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct DeviceHeap {
  HeapKey key;
  std::string name;        // As in NamedHeap.
  std::string_view layer;  // Its title_of(); empty if all heaps of the device have the same layer.
  // Counts towards the device's total. Other heaps are views of the same bytes, or host memory.
  bool is_counted = false;
  std::uint64_t peak_bytes = 0;
};

struct DeviceHeaps {
  std::string name;  // "device 0", "VMEM", "compared GPU", "host memory"; with the rank, or with the file if several
                     // were joined.
  std::vector<DeviceHeap> heaps;
};

// Heaps that ever held something, in the order of the file; for ranks, in the order of the ranks.
std::vector<DeviceHeaps> find_device_heaps(const Trace& trace);

// Bytes in use at the selected time, in the heaps that count.
std::uint64_t total_of(const DeviceHeaps& device, const TraceMoment& moment);

}  // namespace hbmscope::gui
