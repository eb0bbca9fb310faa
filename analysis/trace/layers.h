// Decides which heaps make up a total. A pool's regions come from the driver, and its blocks hold a framework's
// buffers: the same bytes, seen at several layers. A total adds one layer only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// By stream and heap id: whether the heap counts. Among the heaps of one process, device and memory kind, those of the
// lowest layer count, because the others are parts of them; but where a framework's pool is seen from the inside
// (heap_flag::is_inside_of_driver), its layer counts, as the driver's one large block says nothing. What the process
// has outside of its pools is then a figure of its own (query/heap_rows.h). If two streams have a layer, the one counts
// that has addresses, or else the one in which a request failed, or else the first. A heap whose parent counts never
// does. Host and managed memory counts only in a trace that has no other memory, and so do comparison pools (below).
// What a compiled program wants of the device's memory counts only in a trace without any (where there is some, the
// program lies in it), and only that of the largest program. The facts "pid" and "host" identify a process, and in
// joined traces also what it holds (same_process.h); any other stream is a process of its own.
std::vector<std::vector<bool>> find_counted_heaps(const Trace& trace);

// Memory of the host, pinned or managed, which is no memory of a device.
bool is_host_kind(std::string_view kind);

// The memory kind of a pool that only serves as a comparison, such as a GPU's next to an emulated TPU's. It is shown on
// request, and a failure in it is not a failure of the job.
inline constexpr std::string_view kind_of_extra_pool = "gpu_beside";
inline bool is_extra_pool(const HeapInfo& heap) {
  return heap.memory_kind == kind_of_extra_pool;
}
inline bool is_of_extra_pool(const Stream& stream, const FailureEvent& failure) {
  return is_extra_pool(stream.definitions().heap(failure.heap));
}

}  // namespace hbmscope
