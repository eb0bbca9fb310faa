// What the devices report of themselves, and how much of each a process holds: the driver's figures (NVML), which need
// no permission over the process and nothing inside it. A small program next to this one queries them (nvml_program.c),
// because this one may be linked statically, and because a crash in the driver's library must not end an observer.
#pragma once

#include <atomic>
#include <vector>

#include "collector/serve/device_totals.h"

namespace hbmscope::attach {

using serve::DeviceTotals;

// By ordinal. Empty: there is no libnvidia-ml.so.1, or no device, or no answer within ten seconds, or before
// `cancelled` became true. The first call starts the program that queries, and it stays; one thread at a time.
std::vector<DeviceTotals> read_device_totals(const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope::attach
