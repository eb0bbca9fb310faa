// What a device says of itself (NVML) at one moment, and how much of it each process holds. Whoever observes asks
// (collector/attach/device_totals.h), and tells Observer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::serve {

struct DeviceTotals {
  std::string name;                               // "NVIDIA H200"
  std::uint64_t total_bytes = 0, used_bytes = 0;  // Used: by all, the driver too.
  struct Holder {
    pid_t process = 0;  // As this machine numbers it; 0: in a container, under a number that says nothing here.
    std::optional<std::uint64_t> bytes;  // Nothing: the driver does not tell (not permitted, or a MIG device).
  };
  std::vector<Holder> holders;
  bool knows_holders = true;  // False: the driver would not list them.
};

// What a device tells of a process. NVML may have several lines for one, of its parts.
struct HeldMemory {
  bool is_told = false;                // It is among those that hold memory.
  std::optional<std::uint64_t> bytes;  // Nothing: the driver does not tell how much.
};
HeldMemory held_by(pid_t process, const DeviceTotals& device);

}  // namespace hbmscope::serve
