// The heap of a BFC allocator at the moment of a failure, as a trace: its regions and the blocks in use.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/read/bfc/bfc_dump.h"
#include "analysis/trace/trace.h"

namespace hbmscope::bfc {

// One stream with one heap, and no failure in it, because a MemoryDump does not have the request. Chunks that overlap
// and sums that differ from the dump's own are counted in the import statistics. Regions are known if all chunks are
// listed.
Trace trace_from_dump(const Dump& dump, const std::string& file, std::uint64_t file_bytes);

}  // namespace hbmscope::bfc
