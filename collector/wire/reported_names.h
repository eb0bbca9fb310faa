// Names under which an observer records facts about a process besides its events, and under which readers find them.
#pragma once

#include <string_view>

namespace hbmscope::wire {

// A fact about the job, and a marker at that time: the process was attached to while it was running. With the value and
// marker `left_alone`, nothing is loaded into it, and from then on only the driver's totals are recorded.
inline constexpr std::string_view attached_fact = "hbmscope.attached", attached_mark = "attached",
                                  left_alone = "left alone", left_alone_mark = "watched";

// A fact about a process that ran on when its observation ended: readers count it among what is unusual in the file
// ("severity\ncount\nremedy\nexample").
inline constexpr std::string_view left_running_fact = "hbmscope.caveat.left_running",
                                  left_running_remedy =
                                      "This process ran on when the observation was ended: what it did later is "
                                      "missing.";

// Facts about a process of a job: its command line, with spaces between the arguments; the environment variables that
// affect device memory, whose names follow this prefix; and its rank, the decimal number that its launcher gave it.
inline constexpr std::string_view command_fact = "command", variable_facts = "variable.", rank_fact = "rank";

// A variable under the first prefix is the value that its framework has read, or may still read: if a process reports
// several, the last one counts. Under this prefix follow the values that it was set to after its framework had read it,
// which have no effect. `variable_not_set` is the value of a variable that is not in the environment any more.
inline constexpr std::string_view late_variable_facts = "late_variable.", variable_not_set = "(not set)";

// What the agent in a job has to say about itself: why some arrays have no names.
inline constexpr std::string_view agent_fact = "agent";

// On an emulated device: a marker with the stack of the first call from a place that read a value which no kernel had
// computed. The place's number in its process follows; the emulated device counts the reads by it.
inline constexpr std::string_view value_read_mark = "reads a value that was not computed, place ";

// The versions of a job's packages, by their names: "version.jax", "version.jaxlib", "version.torch".
inline constexpr std::string_view version_facts = "version.";

// A fact about a job that was attached to, recorded at each change: how its CUDA driver calls are recorded. The value
// completes a sentence that begins with "CUDA driver calls are ", and itself begins with one of these texts. If it
// changes after the attach, there is also a marker named with that sentence.
inline constexpr std::string_view driver_calls_fact = "hbmscope.driver_calls",
                                  driver_calls_are = "CUDA driver calls are ", recorded_with = "recorded with ",
                                  not_recorded = "not recorded: ", not_recorded_yet = "not recorded yet: ";

// A compiled program of JAX that was executed, by its name; one fact for each that was compiled. The value has its
// compiler's figures for one device, in bytes: "arguments=80 outputs=64 aliased=0 temporaries=16 code=4".
inline constexpr std::string_view program_facts = "program.";

// Counters of a pool that a job which was attached to sends once: what it had in use just before its first call that
// was seen, which the observer turns into one block without an address, named `not_identified`; and the size of the
// pool, if its regions are not known.
inline constexpr std::string_view in_use_before = "in_use_before", not_identified = "not identified",
                                  reported_pool = "total_reserved";
// A counter of such a heap, recorded at each change: the size of the block named `not_identified`. Its first value is
// all that was in use before.
inline constexpr std::string_view bytes_not_identified = "bytes not identified";

// Counters of any pool, sent once: up to what size it may grow, and what its device has in all.
inline constexpr std::string_view reported_limit = "limit_bytes", reported_device = "device_bytes";

// A counter between a job and its observer: 1, its agent begins to list blocks from before the attach; 0, it has ended.
// Each block of the list is recorded as an allocation then, with an attribute that says when it was allocated.
inline constexpr std::string_view lists_blocks_from_before = "lists_blocks_from_before",
                                  allocated_attribute = "allocated", before_attach = "before hbmscope was attached";

// Counters of a memory pool of the driver, "memory pool 1 reserved bytes", which belong to the heap of its device: what
// it has taken from the device, what of it is in blocks, and up to what it keeps freed memory (the largest number:
// all).
inline constexpr std::string_view pool_counter = "memory pool ", pool_reserved_ending = " reserved bytes",
                                  pool_used_ending = " used bytes", pool_threshold_ending = " release threshold bytes";

// Suffixes of counter names that begin with a device, "GPU 0": figures that the driver (NVML) reports.
inline constexpr std::string_view held_by_process_ending = " bytes held by this process (NVML)",
                                  in_use_by_all_ending = " bytes in use by all processes (NVML)";

}  // namespace hbmscope::wire
