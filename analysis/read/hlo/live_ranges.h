// XLA's *-live-range.txt: from when to when each value of a program lives, in the order of its instructions. Where the
// values lie is in the buffer assignment of the same module, whose text does not say when they live.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>

#include "analysis/model/result.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

struct LiveRange {
  std::uint64_t begin = 0, end = 0;  // Both included: instructions, counted from 0.
};
using LiveRanges = std::unordered_map<std::string, LiveRange>;  // By "fusion.3{1}"; "fusion.3{}" is the whole value.

// By the first 64 bytes.
bool looks_like_live_ranges(std::span<const std::uint8_t> bytes);

// Errors: there is no range in it.
Result<LiveRanges> read_live_ranges(std::span<const std::uint8_t> bytes, const std::string& name);

// Arenas whose values have ranges get the order in which these begin and end, as the compiler's simulator goes: of one
// instruction first what begins, then what ends. A value that begins where one of its size is still there is written
// over it. How many values of such arenas have no range: they are left out of the order.
std::uint64_t add_heap_traces(Program& program, const LiveRanges& ranges);

}  // namespace hbmscope::hlo
