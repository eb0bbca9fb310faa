// The layouts of arrays: XLA's text, parsed once, and the bytes that an array takes. Never freed: a job has few.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/emulated/tpu/plugin/c_api.h"

namespace hbmscope::allocator::tpu {
struct Generation;
}

namespace hbmscope::allocator::tpu::plugin {

// The layout of an array with a certain type and dimensions.
struct ArrayLayout {
  std::string text;                             // "{1,0:T(8,128)}"
  std::uint64_t bytes = 0, unpadded_bytes = 0;  // In HBM.
  bool is_guessed = false;  // The type or the text is unknown here: the bytes are those on the host.
  std::vector<std::int64_t> minor_to_major, tile_dimensions;
  std::vector<std::size_t> tile_ranks;
};

// What libtpu gives an array that the compiler did not lay out.
const ArrayLayout* default_layout(const Topology* topology, const Generation& generation, int type,
                                  const std::vector<std::int64_t>& dimensions);
// `text` as the compiler writes it.
const ArrayLayout* layout_from(const Generation& generation, int type, const std::vector<std::int64_t>& dimensions,
                               std::string_view text);
// The layout with this text, or libtpu's default if it is empty.
const ArrayLayout* layout_or_default(const Topology* topology, const Generation& generation, int type,
                                     const std::vector<std::int64_t>& dimensions, std::string_view text);
// XLA's text of a layout in PJRT's form, or empty if that has strides or is missing.
std::string text_from_layout(const BufferLayout* layout);

const char* name_of_type(int type);  // "bf16"; "?": unknown.
// The size of a row-major array on the host, where values of less than a byte occupy a byte.
std::uint64_t host_bytes(int type, const std::vector<std::int64_t>& dimensions);
std::uint64_t host_bytes_of_value(int type);

}  // namespace hbmscope::allocator::tpu::plugin
