// XLA's *-live-range.txt: when each value of a program is live, in instruction order. The buffer assignment of the same
// module has the offsets of the values, but its text does not have their times.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"
#include "analysis/trace/trace.h"

namespace hbmscope::hlo {

struct LiveRange {
  std::uint64_t begin = 0, end = 0;  // Inclusive; instructions counted from 0.
};
using LiveRanges = std::unordered_map<std::string, LiveRange>;  // By "fusion.3{1}"; "fusion.3{}" is the whole value.

// "Live ranges at 23 (peak):" and the values below it, the only ones of which the text has the sizes.
struct LivePeak {
  std::uint64_t position = 0, bytes = 0;                      // In instruction order; of all values together.
  std::vector<std::pair<std::string, std::uint64_t>> values;  // "fusion.3{1}" and its bytes, the largest first.
};

// Decides by the first 64 bytes.
bool looks_like_live_ranges(std::span<const std::uint8_t> bytes);

// Error: it contains no range.
Result<LiveRanges> read_live_ranges(std::span<const std::uint8_t> bytes, const std::string& name);

// Nothing: the text has no peak.
std::optional<LivePeak> read_live_peak(std::span<const std::uint8_t> bytes);

// Gives arenas whose values have ranges the order of allocations and frees that the compiler's simulator used: within
// one instruction, allocations come before frees. A value in the place of a live one of the same size, or inside one
// that lives longer, shares its memory. Returns how many values of such arenas have no range and are left out of the
// order.
std::uint64_t add_heap_traces(Program& program, const LiveRanges& ranges);

// A -live-range.txt alone: the values that are live at the peak, which are the only ones whose sizes it has, with their
// times. It has no addresses, and no kinds and memory spaces of values.
Trace trace_from_live_ranges(const LiveRanges& ranges, const LivePeak& peak, const std::string& name,
                             std::uint64_t bytes);

}  // namespace hbmscope::hlo
