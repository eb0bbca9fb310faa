// What the devices say of themselves, and how much of each a process holds: the driver's figures (NVML), which need no
// right over the process and nothing inside of it. A small program beside this one asks (nvml_program.c): this one may
// be linked statically, and whatever the driver's library does is no end of an observer.
#pragma once

#include <atomic>
#include <vector>

#include "collector/serve/device_totals.h"

namespace hbmscope::attach {

using serve::DeviceTotals;

// By ordinal. Empty: there is no libnvidia-ml.so.1, or no device, or it does not answer within ten seconds, or before
// `cancelled` became true. The program that asks is started by the first call and stays; one thread at a time.
std::vector<DeviceTotals> read_device_totals(const std::atomic<bool>* cancelled = nullptr);

}  // namespace hbmscope::attach
