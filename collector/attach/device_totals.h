// What the devices report about themselves, and how much of each a process holds: the driver's figures (NVML), which
// need no permission for the process and nothing inside it. A small separate program queries them (nvml_program.c),
// because this program may be linked statically, and because a crash in the driver's library must not end an observer.
#pragma once

#include <atomic>
#include <vector>

#include "collector/serve/device_totals.h"

namespace hbmscope::attach {

using serve::DeviceTotals;

// By ordinal. Empty if there is no libnvidia-ml.so.1 or no device, if there is no answer within ten seconds, or if
// `cancelled` became true. The first call starts the querying program, which keeps running. Call it from one thread at
// a time.
std::vector<DeviceTotals> read_device_totals(const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope::attach
