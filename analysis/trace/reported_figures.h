// Figures that a source reports for a heap as a whole where it does not report each block: counters of the heap, with
// these names. A failure's figures come from them if the blocks of the heap are unknown.
#pragma once

#include <string_view>

namespace hbmscope::reported_figure {

inline constexpr std::string_view used = "used_bytes", free = "free_bytes", largest_free = "largest_free_bytes",
                                  limit = "limit_bytes", reserved = "reserved_bytes";
// The pool size, as PyTorch's profiler calls it.
inline constexpr std::string_view pool = "total_reserved";

// Of a compiled program: counters without a heap.
inline constexpr std::string_view program_argument = "program_argument_bytes", program_output = "program_output_bytes",
                                  program_alias = "program_alias_bytes", program_temp = "program_temp_bytes",
                                  program_replayed_temp = "program_replayed_temp_bytes",
                                  program_donatable = "program_donatable_bytes", program_code = "program_code_bytes";
// Of a heap: all memory that the program has there.
inline constexpr std::string_view program_space = "program_bytes";

}  // namespace hbmscope::reported_figure
