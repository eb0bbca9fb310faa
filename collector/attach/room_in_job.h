// Finds unused space in a job: for a few hundred bytes of code, and for a range of addresses.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "collector/attach/job_memory.h"

namespace hbmscope::attach {

struct Gap {
  std::uint64_t begin = 0, bytes = 0;
};
// The space after the code of a module that is never unloaded, up to the end of its last page: nothing refers to these
// bytes. The largest first; each begins at a multiple of 16.
std::vector<Gap> find_gaps(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules);

// An unmapped range of `bytes_wanted`; 0 if there is none.
std::uint64_t find_free_range(pid_t process, std::uint64_t bytes_wanted);

}  // namespace hbmscope::attach
