// Names under which an observer records what it knows about a process besides its events, and under which a reader
// finds it again.
#pragma once

#include <string_view>

namespace hbmscope::wire {

// A fact about the job, and a marker at that time: the process was attached to in the middle of its life. With the
// value and marker `left_alone`, nothing is loaded into it, and only the driver's totals are watched from then on.
inline constexpr std::string_view attached_fact = "hbmscope.attached", attached_mark = "attached",
                                  left_alone = "left alone", left_alone_mark = "watched";

// Facts about a process of a job: its command, its arguments with blanks between them; the variables of its environment
// that decide over device memory, with their names behind this; and its number among the job's processes, as its
// launcher gave it, in decimals.
inline constexpr std::string_view command_fact = "command", variable_facts = "variable.", rank_fact = "rank";

// A fact about a job that was attached to, each time that it changes: how its CUDA driver calls are recorded, as the
// rest of a sentence that begins with "CUDA driver calls are ", and begins itself with one of these. When it changes
// later than at the attaching there is a mark, whose name is that sentence.
inline constexpr std::string_view driver_calls_fact = "hbmscope.driver_calls",
                                  driver_calls_are = "CUDA driver calls are ", recorded_with = "recorded with ",
                                  not_recorded = "not recorded: ", not_recorded_yet = "not recorded yet: ";

// How the names of counters end that begin with a device, "GPU 0": as the driver (NVML) reports it.
inline constexpr std::string_view held_by_process_ending = " bytes held by this process (NVML)",
                                  in_use_by_all_ending = " bytes in use by all processes (NVML)";

}  // namespace hbmscope::wire
