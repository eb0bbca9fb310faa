// The heaps of a trace under their devices: what Sources shows as a tree. Which there are never changes; what they hold
// is looked up at the moment.
#pragma once

#include <string>
#include <vector>

#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

struct DeviceHeap {
  HeapKey key;
  std::string name;         // As NamedHeap has it.
  std::string_view layer;   // title_of() it; empty where all heaps of the device are of one.
  bool is_counted = false;  // In the device's total; the others view the same bytes, or host memory.
  std::uint64_t peak_bytes = 0;
};

struct DeviceHeaps {
  std::string name;  // "device 0", "VMEM", "compared GPU", "host memory"; with its rank, or its file where several
                     // were joined.
  std::vector<DeviceHeap> heaps;
};

// Heaps that ever held something, in the order of the file; those of ranks in theirs.
std::vector<DeviceHeaps> find_device_heaps(const Trace& trace);

// In use at a moment, of the heaps that count.
std::uint64_t total_of(const DeviceHeaps& device, const TraceMoment& moment);

}  // namespace hbmscope::gui
