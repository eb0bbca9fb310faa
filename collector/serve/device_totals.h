// What a device reports about itself (NVML) at one time, and how much of it each process holds. The caller queries it
// (collector/attach/device_totals.h) and passes it to Observer.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::serve {

struct DeviceTotals {
  std::string name;   // "NVIDIA H200"
  std::string title;  // The number on this machine: "GPU 3", or "GPU 3 MIG 1" for a slice of it.
  std::string uuid;   // "GPU-...", or "MIG-..." for a slice, if it is reported.
  // Used: by all processes and the driver. No value: not reported, as by devices that use the host's memory.
  std::optional<std::uint64_t> total_bytes, used_bytes;
  struct Holder {
    pid_t process =
        0;  // Numbered as on this machine. It is 0 in a container, where the reported number means nothing here.
    std::optional<std::uint64_t> bytes;  // No value: not reported (no permission, or a MIG device).
  };
  std::vector<Holder> holders;
  bool knows_holders = true;  // False: the driver would not list them.
};

// What a device reports about one process. NVML may have several entries for one process.
struct HeldMemory {
  bool is_reported = false;            // The driver lists it among those that hold memory.
  std::optional<std::uint64_t> bytes;  // No value: the driver does not report the amount.
};
HeldMemory held_by(pid_t process, const DeviceTotals& device);

}  // namespace hbmscope::serve
