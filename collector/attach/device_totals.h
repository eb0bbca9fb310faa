// What the devices say of themselves, and how much of each a process holds: the driver's figures (NVML), which need no
// right over the process and nothing inside of it. A small program beside this one asks (nvml_program.c): this one may
// be linked statically, and whatever the driver's library does is no end of an observer.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hbmscope::attach {

struct DeviceTotals {
  std::string name;                               // "NVIDIA H200"
  std::uint64_t total_bytes = 0, used_bytes = 0;  // Used: by all, the driver too.
  struct Holder {
    pid_t process = 0;  // As this machine numbers it; 0: in a container, under a number that says nothing here.
    std::optional<std::uint64_t> bytes;  // Nothing: the driver does not tell (not permitted, or a MIG device).
  };
  std::vector<Holder> holders;
};

// By ordinal. Empty: there is no libnvidia-ml.so.1, or no device, or it does not answer within ten seconds, or before
// `cancelled` became true. The program that asks is started by the first call and stays; one thread at a time.
std::vector<DeviceTotals> read_device_totals(const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope::attach
