// Where a few hundred bytes of code, and a range of addresses, can be put in a job without being in anybody's way.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "collector/attach/job_memory.h"

namespace hbmscope::attach {

struct Gap {
  std::uint64_t begin = 0, bytes = 0;
};
// Behind the code of a module that is never unloaded, to the end of its last page: nothing refers to what lies there.
// The largest first; each begins at a multiple of 16.
std::vector<Gap> find_gaps(const JobMemory& memory, const std::vector<Mapping>& mappings, const Modules& modules);

// So many bytes of addresses where nothing is mapped; 0: there are none.
std::uint64_t find_free_range(pid_t process, std::uint64_t bytes_wanted);

}  // namespace hbmscope::attach
