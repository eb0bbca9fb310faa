// What a program takes, as XLA's memory analysis adds it up (pjrt_executable.h, CompiledMemoryStats): of device memory
// alone, without what is thread-local or on the host.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

struct ProgramMemory {
  std::uint64_t argument_bytes = 0;
  std::uint64_t output_bytes = 0;  // Those that alias arguments too.
  std::uint64_t alias_bytes = 0;   // Of both.
  std::uint64_t temp_bytes = 0;
  std::uint64_t donatable_bytes = 0;  // Outputs as large as an argument that is no output; each argument counts once.
  std::map<std::string, std::uint64_t> by_space;  // All allocations, by space_name.
};
ProgramMemory compute_program_memory(const Program& program);

// The temporaries of device memory packed anew, from the compiler's order of events; nothing where that is unknown.
std::optional<std::uint64_t> replay_temp_bytes(const Program& program);

}  // namespace hbmscope::hlo
