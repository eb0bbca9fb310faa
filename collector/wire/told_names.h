// Names that an observer gives to what it tells of a process beside its events, and by which a reader finds it again.
#pragma once

#include <string_view>

namespace hbmscope::wire {

// A fact about the job, and the mark at the moment: the process was attached to in the middle of its life.
inline constexpr std::string_view attached_fact = "hbmscope.attached", attached_mark = "attached";

// How the names of counters end that begin with a device, "GPU 0": what the driver (NVML) says.
inline constexpr std::string_view held_by_process_ending = " bytes held by this process (NVML)",
                                  in_use_by_all_ending = " bytes in use by all processes (NVML)";

}  // namespace hbmscope::wire
