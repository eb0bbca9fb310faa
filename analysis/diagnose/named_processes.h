// Which processes held memory of the device when a request failed, as the text of the failure says. PyTorch names them:
// "Process 3567 has 60.00 GiB memory in use. Including non-PyTorch memory, this process has 10.50 GiB memory in use."
// (c10/cuda/CUDACachingAllocator.cpp)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/query/heap_rows.h"

namespace hbmscope {

struct NamedProcess {
  std::string name;         // "process 3567"
  std::uint64_t bytes = 0;  // As printed, so to about half a percent.
  bool is_own = false;      // The one whose request failed; its pool is part of these bytes.
};
std::vector<NamedProcess> find_named_processes(const FailureRow& row);

}  // namespace hbmscope
