// Finds the few lines of a log that could speak of memory, at the speed of a pass over its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hbmscope::log {

// Where the next of the triggers begins, at `from` or later; npos: there is none. Triggers are four letters of the
// words that such lines contain, in any case: "emor" of "memory", "lloc" of "Allocator". A common word, "took", is one
// only near another word of its sentences.
std::size_t find_trigger(std::string_view text, std::size_t from);

std::uint64_t count_line_ends(std::string_view text);

}  // namespace hbmscope::log
