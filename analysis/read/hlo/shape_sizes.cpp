#include "analysis/read/hlo/shape_sizes.h"

#include <algorithm>

#include "allocator/tpu/shape.h"

namespace hbmscope::hlo {

ShapeSizes::ShapeSizes(const TextModule& module)
    : module_(module), is_tpu_(std::any_of(module.nodes.begin(), module.nodes.end(), [](const ShapeNode& node) {
        return !node.is_tuple && node.text.find(":T(") != std::string_view::npos;
      })) {}

const ShapeSize& ShapeSizes::of(std::uint32_t node) {
  const ShapeNode& shape = module_.nodes[node];
  const auto [place, is_new] = sizes_.try_emplace(shape.text);
  if (is_new) place->second = compute(shape);
  return place->second;
}

ShapeSize ShapeSizes::compute(const ShapeNode& node) const {
  constexpr std::uint64_t bytes_end = std::uint64_t{1} << 45;
  if (node.is_tuple) {
    const std::uint64_t parts = node.parts_end - node.parts_begin;
    constexpr std::uint64_t pointer = 8, tpu_pointer = 4, tpu_granularity = 32;
    const std::uint64_t rounded = (parts * tpu_pointer + tpu_granularity - 1) / tpu_granularity * tpu_granularity;
    return {is_tpu_ ? rounded : parts * pointer, 0, true};
  }
  if (node.text.starts_with("token[") || node.text.starts_with("opaque[")) return {};
  const auto shape = allocator::tpu::parse_shape(node.text);
  if (!shape) return {0, 0, false};
  const auto bytes = allocator::tpu::compute_padded_bytes(*shape);
  const bool is_known = bytes && *bytes < bytes_end;
  return {is_known ? *bytes : 0, shape->layout ? shape->layout->memory_space : 0, is_known};
}

}  // namespace hbmscope::hlo
