// The heap of a BFC allocator at the moment of a failure, as a trace: its regions and the blocks in use.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/model/import_statistics.h"
#include "analysis/read/bfc/bfc_dump.h"
#include "analysis/trace/trace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope::bfc {

// Defines a heap for dumps of this allocator that list as much as this one: regions are known if all chunks are listed,
// and there are addresses if any is.
std::uint32_t define_heap(wire::StreamWriter& writer, const Dump& dump, std::string_view name);
// What the dump lists becomes all that the heap holds. Chunks that overlap are counted in `import`.
void list_chunks(wire::StreamWriter& writer, std::uint32_t heap, const Dump& dump, ImportStatistics& import);
// Compares the dump's own sums, and its bins, with those of its chunks, and counts differences.
void check_sums(const Dump& dump, ImportStatistics& import);

// "GPU_0_bfc", and of collectives "GPU_collectivememory_0_bfc": the number is the device's; wire::no_device: none.
std::uint32_t device_of_allocator(std::string_view name);
// "device", or "host_pinned".
std::string_view memory_kind_of_allocator(std::string_view name);

// One stream with one heap, and no failure in it, because a MemoryDump does not have the request.
Trace trace_from_dump(const Dump& dump, const std::string& file, std::uint64_t file_bytes);

}  // namespace hbmscope::bfc
