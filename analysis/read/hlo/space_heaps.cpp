#include "analysis/read/hlo/space_heaps.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "allocator/emulated/tpu/shape.h"
#include "analysis/read/hlo/program.h"

namespace hbmscope::hlo {

std::uint32_t define_space_heap(wire::StreamWriter& writer, bool is_tpu, std::uint64_t color, std::uint32_t flags) {
  wire::HeapRecord heap;
  heap.device = wire::no_device;
  heap.layer = static_cast<std::uint8_t>(wire::Layer::program);
  heap.flags = flags;
  const std::string kind = space_name(is_tpu, color);
  std::string name = kind;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return writer.define_heap(heap, name, kind);
}

std::uint64_t find_data_bytes(std::string_view shape, bool is_tuple, std::uint64_t size) {
  if (is_tuple) return size;
  const auto parsed = allocator::tpu::parse_shape(shape);
  const auto bytes = parsed ? allocator::tpu::compute_unpadded_bytes(*parsed) : std::nullopt;
  return bytes && *bytes <= size ? *bytes : wire::unknown_bytes;
}

}  // namespace hbmscope::hlo
