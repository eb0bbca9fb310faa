// When each value of a scheduled HLO module is live, from its text alone. There is no buffer assignment in the text, so
// values have sizes (of their shapes, with layout) and times, but no addresses.
//
// Instructions are numbered in the order in which they run, as in XLA's flattened schedule: those of a loop's
// condition, then those of its body, come before the loop itself (xla/hlo/analysis/hlo_live_range.cc). A value is live
// from the instruction that makes it to the last one that reads it, both included:
//
//   0 x = parameter(0)   1 a = negate(x)   2 b = add(a, x)   3 ROOT c = copy(b)      a is live from 1 to 2
//
// These share memory because XLA guarantees it: get-tuple-element, tuple, bitcast, copy-done and its like; what a loop
// carries; and an operand that is updated in place (dynamic-update-slice, scatter, output_to_operand_aliasing, a fusion
// that ends with one of them). XLA may also write a result over any operand that ends there, which is not assumed.
// Without a schedule nothing guarantees that a loop or an update is in place, so each result has its own memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/read/hlo/hlo_text.h"

namespace hbmscope::hlo {

enum class ValueKind : std::uint8_t { argument, aliased_argument, output, constant, temporary };

struct LiveValue {
  std::uint32_t instruction = 0;  // That made it, in TextModule::instructions.
  std::uint32_t node = 0;         // In TextModule::nodes: the instruction's shape, or a part of it.
  ValueKind kind = ValueKind::temporary;
  std::uint64_t bytes = 0;
  std::uint32_t space = 0;  // The color of its layout. Device memory is 0.
  std::uint64_t begin = 0,
                end = 0;  // Instructions, both included. Arguments, outputs and constants: the whole program.
};

struct LiveProgram {
  std::vector<LiveValue> values;   // Ordered by begin.
  std::uint64_t instructions = 0;  // That run, fused ones not counted.
  bool is_tpu = false;             // Its layouts have tiles.
  // Device memory in bytes, by shapes. Outputs include those that share the memory of an argument (alias).
  std::uint64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0;
  std::uint64_t unknown_shapes = 0;  // Their type has no known size, so they count as 0.
  std::uint64_t impossible = 0;      // Values left out, since all of them together would be larger than any memory.
  std::uint64_t mismatched = 0;      // Instructions whose operands don't fit: each part got its own memory.
};

LiveProgram compute_live_values(const TextModule& module);

// "{1,0}" of a value that is a part of a tuple. Empty for a whole value.
std::string text_from_index(const TextModule& module, const LiveValue& value);

// The most bytes of temporaries that are live at once in a space.
std::uint64_t compute_peak_bytes(const LiveProgram& program, std::uint32_t space);

}  // namespace hbmscope::hlo
