// Which heaps make up a total. A pool's regions come from the driver, its blocks hold a framework's buffers: the same
// bytes, seen at several layers. A total adds one layer only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// By stream and heap id: whether the heap counts. Of the heaps of one process, device and kind of memory those of the
// lowest layer count, of which the others are parts; of two streams that have that layer the first one; and never a
// heap whose parent counts. Host and managed memory counts only in a trace that knows no other, and so does a pool that
// stands beside. A process is what the job's fact "pid" (and "host") says; a stream without is one of its own.
std::vector<std::vector<bool>> find_counted_heaps(const Trace& trace);

// The memory kind of a pool that the trace's own memory is held against, as the GPU's beside an emulated TPU's: it is
// looked at where it is asked for, and what fails there is no failure of the job.
inline constexpr std::string_view kind_beside = "gpu_beside";
inline bool stands_beside(const HeapInfo& heap) {
  return heap.memory_kind == kind_beside;
}
inline bool is_of_one_beside(const Stream& stream, const FailureEvent& failure) {
  return stands_beside(stream.definitions().heap(failure.heap));
}

}  // namespace hbmscope
