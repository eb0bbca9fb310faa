// What a process' memory on a device is made of: what frameworks' pools have, what else was allocated from the driver
// and by which library, what the driver's own pools keep, and what is left of the figure that the device reports for
// the process: contexts, loaded code, local memory of kernels, printf and malloc heaps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct OwnerBytes {
  std::string owner;  // "cuBLAS", "libfoo.so.3", or one of the names below.
  std::uint64_t bytes = 0, blocks = 0;
};
inline constexpr std::string_view own_code_owner = "the program itself", no_stack_owner = "(no stack was recorded)";

struct DeviceAccount {
  std::size_t stream = 0;
  std::uint32_t device = 0;       // As the process numbers it.
  std::uint64_t pools_bytes = 0;  // Frameworks' pools whose inside is seen; used or free there.
  // Allocated from the driver outside of them, in bytes, those with most first. Their sum and pools_bytes are what the
  // process has allocated from the driver; both count physical memory once.
  std::vector<OwnerBytes> owners;
  std::uint64_t kept_bytes = 0;  // By the driver's memory pools: reserved, and in no block.
  // What the device last reported for this process, and for all (NVML). Absent if not reported.
  std::optional<std::uint64_t> reported_bytes, all_processes_bytes;
  // The reported figure without everything that was explained at that time. Absent: not reported, or the report is from
  // before something that is explained, or the process was attached to, and had memory before that is not known.
  std::optional<std::uint64_t> unexplained_bytes;

  std::uint64_t outside_pools_bytes() const;  // The sum of `owners`.
};

// One for each device on which the process has memory of the driver, at the time of `states`.
std::vector<DeviceAccount> find_device_accounts(const Trace& trace, const std::vector<StreamState>& states);

// Whose code called the driver: the innermost library of the stack that is no part of CUDA's runtime, of ROCm's or of
// the C library. Otherwise one of the names above.
std::string owner_of_stack(const Definitions& definitions, std::uint32_t stack);

}  // namespace hbmscope
