// What traces of compiled programs have in common, whether they come from a buffer assignment or from shapes.
#pragma once

#include <cstdint>
#include <string_view>

#include "collector/wire/stream_writer.h"

namespace hbmscope::hlo {

// The heap of a memory space (color) of a program: "HBM", of the kind "hbm". `flags`: wire::heap_flag.
std::uint32_t define_space_heap(wire::StreamWriter& writer, bool is_tpu, std::uint64_t color, std::uint32_t flags);

// The bytes of the elements of a value themselves, of the `size` bytes that it takes; the rest is padding. A table of
// pointers has none. Unknown (wire::unknown_bytes) if the shape has no layout.
std::uint64_t find_data_bytes(std::string_view shape, bool is_tuple, std::uint64_t size);

}  // namespace hbmscope::hlo
