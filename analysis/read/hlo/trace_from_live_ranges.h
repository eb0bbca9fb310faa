// A -live-range.txt alone: the values that are live at the peak, which are the only ones whose sizes it has, with their
// times. It has no addresses, and no kinds and memory spaces of values.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/read/hlo/live_ranges.h"
#include "analysis/trace/trace.h"

namespace hbmscope::hlo {

Trace trace_from_live_ranges(const LiveRanges& ranges, const LivePeak& peak, const std::string& name,
                             std::uint64_t bytes);

}  // namespace hbmscope::hlo
