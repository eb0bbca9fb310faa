// The memory that a program needs, summed as in XLA's memory analysis (pjrt_executable.h, CompiledMemoryStats): device
// memory only, without thread-local and host memory.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

struct ProgramMemory {
  std::uint64_t argument_bytes = 0;
  std::uint64_t output_bytes = 0;  // Including those that alias arguments.
  std::uint64_t alias_bytes = 0;   // Part of both.
  std::uint64_t temp_bytes = 0;
  std::uint64_t donatable_bytes = 0;              // Outputs as large as a kept argument; each argument counts once.
  std::map<std::string, std::uint64_t> by_space;  // All allocations, by space_name.
};
ProgramMemory compute_program_memory(const Program& program);

// The temporaries of device memory, repacked in the compiler's order of events; nothing if that order is unknown.
std::optional<std::uint64_t> replay_temp_bytes(const Program& program);

}  // namespace hbmscope::hlo
