// Whether a heap grew step by step before a failure, and which lines keep blocks from earlier steps.
//
// A loop that appends its losses to a list keeps 3 MiB more with every step. The bytes in use at the same mark of each
// step then rise by 3 MiB, and the line that computes the loss has live blocks from every step. A line whose blocks are
// all from the last step holds activations, and is no suspect however large it is.
//
// What rose and has stopped is no growth: a cache that is full, a warm-up. Neither is a program that ran 20 times to
// fill the parameters: its executions are steps only if what the trace came to (the failed request) is a part of that
// loop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/diagnose/holders.h"
#include "analysis/trace/stream_state.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

struct Growth {
  std::string step;                // The marker's name, "step (AdamW)"; a number in it is left out.
  std::string_view each = "step";  // What a step is called: "iteration"; in a log without numbers "printed line".
  std::uint64_t steps = 0;         // Those that were looked at, the last ones before the failure.
  // Where the first of them begins, and the last one: events of the heap's stream.
  std::uint64_t first_event = 0, last_event = 0;
  std::int64_t bytes_per_step = 0;  // The median slope of the bytes in use, over all pairs of steps (Theil and Sen).
  bool is_steady = false;           // Nearly every step ended above the one before, the last ones too.
  // Lines with live blocks from at least half of the steps, those with most bytes first; bytes from these steps only,
  // and not from the last one, which is still running.
  std::vector<Holder> survivors;
  std::uint64_t survivor_bytes = 0;
  // All live bytes that the survivors' lines made in the loop, also before these steps, but for the current one. Where
  // no line is known: what the heap had more at the last step than at the second one of the loop.
  std::uint64_t kept_bytes = 0;
  std::uint64_t current_bytes = 0;  // Allocated in the current step by these lines: no more than a step adds.
  std::string held_by;  // The variable that holds the most of it: "history (global of train.py)". Empty if unknown.
  bool is_held_by_graph = false;  // Then it is "the autograd graph of total (global of train.py)".
};

// `state`: of the heap's stream at the failure. Nothing if there are fewer than `steps_min` marks of steps before it:
// markers with "step" or "iteration" in their names. Walks the last `steps_max` steps; of a log, as many steps of its
// whole second half, because printed figures are rounded.
inline constexpr std::size_t steps_min = 8, steps_max = 64;
// The loop must still run at that time, or may have ended before it.
enum class LoopEnd : std::uint8_t { still_runs, any };
// `failed_stack`: that of the request that failed then. 0 if it is unknown, or none did.
std::optional<Growth> find_growth(const Trace& trace, HeapKey heap, const StreamState& state,
                                  LoopEnd end = LoopEnd::still_runs, std::uint32_t failed_stack = 0);

// "250 MiB more each step, held by history (global of train.py), made at train.py:16"
std::string text_from_growth(const Growth& growth);
// The line that keeps the most: "train.py:16"; its function, where no place is known. Empty if no line is known.
std::string made_at(const Growth& growth);

// What a heap in which nothing failed grows by, and for how long it can.
struct Outlook {
  Growth growth;  // A steady one.
  // The limit of the pool, else the device's size, else what a pool of one region had at the peak. Absent if unknown.
  std::optional<std::uint64_t> limit_bytes;
  bool may_grow = false;                       // The pool, beyond that.
  std::optional<std::uint64_t> steps_at_most;  // From the peak to the limit, if everything else stays as it was.
};
// Nothing: the heap does not grow steadily, or no steps are marked. `spare_bytes`: what the device has left at the peak,
// with contexts and all else; if it is not given, it is that of the recording of a dry run.
std::optional<Outlook> find_outlook(const Trace& trace, HeapKey heap, std::optional<std::uint64_t> spare_bytes = {});
// "Memory grows: 192 MiB more each step, made at metrics.py:17. At most 45 more steps fit below the limit of 24.0 GiB."
std::string text_from_outlook(const Outlook& outlook);
// Its second sentence. Empty if the limit is unknown.
std::string text_from_steps_left(const Outlook& outlook);

}  // namespace hbmscope
