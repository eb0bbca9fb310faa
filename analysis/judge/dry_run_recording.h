// What the recording of a dry run adds to what its processes reported themselves.
#pragma once

#include <span>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct DeviceNeed;

// Raises the peaks of the frameworks' pools to those that were recorded: a program may have reset its framework's
// statistics. Peaks that lost events make inexact are left out.
void take_recorded_peaks(const Trace& trace, std::span<DeviceNeed> needs);

}  // namespace hbmscope
