// Reads what an export of Nsight Systems to SQLite says about memory:
//
//   nsys profile --cuda-memory-usage=true COMMAND
//   nsys export --type sqlite report1.nsys-rep
//
// Each process is a stream. Memory of a device that the program took from the driver (cudaMalloc, cuMemAlloc, arrays,
// __device__ variables) is the heap "GPU 0 memory"; what it took from a memory pool (cudaMallocAsync) is a heap for
// each pool, whose own size is a counter; managed and pinned memory are heaps of their own, which count as no memory of
// a device. Ranges and marks of NVTX are markers. A call that returned "out of memory" is a failure; its size is not in
// the export. Stacks are the call's name, and below it the recorded one, if any (--cudabacktrace).
#pragma once

#include <string>

#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

namespace nsys {
struct Export;
}

// Needs at least one event, failure or marker; what has none becomes a trace of one empty stream.
Trace trace_from_nsys(const nsys::Export& exported, const std::string& name, std::uint64_t file_bytes);

// Recognises any SQLite database. Errors: it has no memory events (other_format, with what it is); damaged; cancelled.
extern const Format nsys_format;

}  // namespace hbmscope
