// Which device a heap is on. A device is identified by its UUID if the recording has it: four processes that each see
// one GPU of a machine call all of them GPU 0, and two processes that share one are on the same device. A rank is only
// a label.
#pragma once

#include <string>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// By stream and heap id; equal for the heaps of one device: "GPU 0", or, if several devices have that number in their
// processes, "GPU 0 (rank 3)" or "GPU 0 (GPU-1f2e3d4c)", the beginning of its UUID. Empty: the UUID is unknown, or the
// heap is not on a device.
std::vector<std::vector<std::string>> find_device_names(const Trace& trace);

// The same; a heap without a name there has its own label, and a private pool that of its device's own heap.
std::vector<std::vector<std::string>> find_device_labels(const Trace& trace,
                                                         const std::vector<std::vector<std::string>>& heap_labels);

}  // namespace hbmscope
