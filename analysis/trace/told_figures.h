// What a source tells of a heap as a whole where it does not tell each block: counters of these names, of the heap. A
// failure's figures come from them where the heap itself does not know.
#pragma once

#include <string_view>

namespace hbmscope::told_figure {

inline constexpr std::string_view used = "used_bytes", free = "free_bytes", largest_free = "largest_free_bytes",
                                  limit = "limit_bytes", reserved = "reserved_bytes";

}  // namespace hbmscope::told_figure
