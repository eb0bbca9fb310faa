// Whether a heap grew step by step before a failure, and which lines keep blocks from earlier steps.
//
// A loop that appends its losses to a list keeps 3 MiB more with every step. The bytes in use at the same mark of each
// step then rise by 3 MiB, and the line that computes the loss has live blocks from every step. A line whose blocks are
// all from the last step holds activations, and is no suspect however large it is.
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
  std::string step;                 // The marker's name, "step (AdamW)"; a number in it is left out.
  std::uint64_t steps = 0;          // Those that were looked at, the last ones before the failure.
  std::int64_t bytes_per_step = 0;  // The median slope of the bytes in use, over all pairs of steps (Theil and Sen).
  bool is_steady = false;           // Nearly every step ended above the one before.
  // Lines with live blocks from at least half of the steps, those with most bytes first; bytes from these steps only,
  // and not from the last one, which is still running.
  std::vector<Holder> survivors;
  std::uint64_t survivor_bytes = 0;
};

// `state`: of the heap's stream at the failure. Nothing if there are fewer than `steps_min` marks of steps before it:
// markers with "step" or "iteration" in their names. Walks the last `steps_max` steps.
inline constexpr std::size_t steps_min = 8, steps_max = 64;
// The loop must still run at that time, or may have ended before it.
enum class LoopEnd : std::uint8_t { still_runs, any };
std::optional<Growth> find_growth(const Trace& trace, HeapKey heap, const StreamState& state,
                                  LoopEnd end = LoopEnd::still_runs);

}  // namespace hbmscope
