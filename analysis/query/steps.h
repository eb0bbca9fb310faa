// The steps of a program, as its markers say them: "train step 12" begins the twelfth one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct Step {
  std::uint64_t event = 0;  // Its marker lies before this event.
  std::int64_t time_ns = 0;
  std::string_view name;  // As the marker has it; of the stream's definitions.
};

struct Steps {
  std::string name;  // Without a number: "train step", "step (AdamW)".
  std::vector<Step> begins;
};

// "train step 12" and "train step 13" are the same: "train step".
std::string without_numbers(std::string_view name);

// Markers before the event `before` that begin, or are instants, and have "step" or "iteration" in their names, by
// name. Those with fewer than `least` markers are left out.
std::vector<Steps> find_steps(const Stream& stream, std::uint64_t before, std::size_t least);

// Steps contain others: the one whose last `least` markers are the most events apart; null if there is none.
const Steps* find_outermost(const std::vector<Steps>& all, std::size_t least);

// The steps that a window shows: the outermost ones of the stream, at least two.
Steps outermost_steps(const Stream& stream);

// Markers whose names contain the text, ignoring case: of each name and stream the first one after the shown time, or
// the first one of all if none follows. The shortest names come first, of equal ones that of the shown stream.
struct NamedMarker {
  std::size_t stream = 0, index = 0;  // marks()[index] of that stream.
  std::string_view name;              // From the stream's definitions.
  std::size_t number = 1, count = 1;  // It is the third of twelve with that name in its stream.
};
// `positions`: the shown time, by stream; empty: the start.
std::vector<NamedMarker> find_markers(const Trace& trace, std::string_view part, std::size_t most,
                                      std::span<const std::uint64_t> positions, std::size_t shown_stream);

// Bytes in use of the heap when each of these steps began.
std::vector<std::int64_t> in_use_at(const Stream& stream, std::uint32_t heap, const std::vector<Step>& steps);

}  // namespace hbmscope
