// The rows of an export of Nsight Systems that concern memory, as columns of its tables have them. Times are
// nanoseconds since the beginning of the session. The schema: "SQLite Schema Reference" in the user guide of Nsight
// Systems, https://docs.nvidia.com/nsight-systems/UserGuide/; tables and columns are created when they are needed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/nsys/database.h"

namespace hbmscope::nsys {

// ENUM_CUDA_MEM_KIND, by its names.
enum class MemoryKind : std::uint8_t {
  pageable,
  pinned,
  device,
  array,
  managed,
  device_static,   // A __device__ variable.
  managed_static,  // A __managed__ variable.
  unknown,
};

// A row of CUDA_GPU_MEMORY_USAGE_EVENTS.
struct MemoryEvent {
  std::int64_t time_ns = 0;
  std::uint64_t process = 0;  // process_of(globalPid)
  std::uint32_t device = 0;   // The process's own number for it.
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t pool = 0;  // localMemoryPoolAddress, of cudaMallocAsync and the like, or 0.
  std::int64_t pool_bytes = -1;
  std::uint32_t stream = 0;
  MemoryKind kind = MemoryKind::unknown;
  bool is_free = false;
  std::string name;               // A variable's.
  std::int64_t correlation = -1;  // The call's, or -1 if it is unknown.
};

// A call of the CUDA API that allocated, freed, or failed for want of memory.
struct Call {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint64_t process = 0;
  std::int64_t name = 0;    // StringIds.
  std::int64_t chain = -1;  // CUDA_CALLCHAINS, or -1 if no stack was recorded.
};

struct Marker {
  std::int64_t time_ns = 0;
  std::uint64_t process = 0;
  std::uint8_t phase = 0;  // 0: an instant, 1: begin, 2: end.
  std::string name;
};

struct Frame {
  std::string function, module;
};

struct Export {
  std::vector<MemoryEvent> events;                               // In time order.
  std::map<std::pair<std::uint64_t, std::int64_t>, Call> calls;  // By process and correlation: those of `events`.
  std::vector<Call> failures;                                    // That returned "out of memory", in time order.
  std::unordered_map<std::int64_t, std::vector<Frame>> chains;   // The innermost frame first.
  std::unordered_map<std::int64_t, std::string> strings;         // Those that calls and chains need.
  std::vector<Marker> markers;                                   // In time order.
  std::map<std::pair<std::uint64_t, std::uint32_t>, std::string> device_uuids;  // By process and its device number.
  std::map<std::uint64_t, std::string> process_names;
  std::int64_t begun_realtime_ns = 0;  // 0: unknown.
  std::uint64_t impossible = 0;        // Rows of memory whose size or time can't be.
};

// Bits 24 to 47 of a globalPid or globalTid.
constexpr std::uint64_t process_of(std::int64_t global) {
  return static_cast<std::uint64_t>(global) >> 24 & 0xffffff;
}

constexpr const char* memory_table = "CUDA_GPU_MEMORY_USAGE_EVENTS";

// Requires the table of memory events. Errors: of the database; a column that is needed is missing.
Result<Export> read_export(const Database& database, const std::string& name);

}  // namespace hbmscope::nsys
