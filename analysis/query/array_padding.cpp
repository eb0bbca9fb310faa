#include "analysis/query/array_padding.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace hbmscope {

namespace tpu = allocator::tpu;

std::optional<ArrayPadding> compute_array_padding(tpu::Shape shape, const tpu::Generation& generation,
                                                  tpu::SecondMinor second_minor) {
  const auto bytes = tpu::compute_padded_bytes(shape), unpadded = tpu::compute_unpadded_bytes(shape);
  if (!bytes || !unpadded) return std::nullopt;
  ArrayPadding padding{std::move(shape), *bytes, *unpadded, {}, *bytes};
  padding.least = tpu::least_padded_shape(generation, padding.shape, second_minor);
  padding.least_bytes = tpu::compute_padded_bytes(padding.least).value_or(*bytes);
  return padding;
}

void sort_by_waste(std::vector<NamedPadding>& arrays) {
  std::stable_sort(arrays.begin(), arrays.end(), [](const NamedPadding& a, const NamedPadding& b) {
    return a.padding.padding_bytes() > b.padding.padding_bytes();
  });
}

void PaddingTotals::add(const ArrayPadding& padding) {
  const auto grow = [](std::uint64_t& sum, std::uint64_t more) {
    sum =
        more > std::numeric_limits<std::uint64_t>::max() - sum ? std::numeric_limits<std::uint64_t>::max() : sum + more;
  };
  ++arrays;
  grow(bytes, padding.bytes);
  grow(unpadded_bytes, padding.unpadded_bytes);
  grow(padding_bytes, padding.padding_bytes());
  grow(least_bytes, padding.least_bytes);
}

}  // namespace hbmscope
