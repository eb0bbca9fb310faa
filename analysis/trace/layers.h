// Which heaps make up a total. A pool's regions come from the driver, its blocks hold a framework's buffers: the same
// bytes, seen at several layers. A total adds one layer only.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

// By stream and heap id: whether the heap counts. Of the heaps of one process, device and kind of memory those of the
// lowest layer count, of which the others are parts; of two streams that tell that layer the first one; and never a
// heap whose parent counts. Host and managed memory counts only in a trace that knows no other. A process is what the
// job's fact "pid" (and "host") says; a stream without is one of its own.
std::vector<std::vector<bool>> find_counted_heaps(const Trace& trace);

}  // namespace hbmscope
