#include "analysis/query/array_padding.h"

#include <algorithm>
#include <utility>

#include "analysis/model/clamped.h"

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
  ++arrays;
  bytes = clamped_sum(bytes, padding.bytes);
  unpadded_bytes = clamped_sum(unpadded_bytes, padding.unpadded_bytes);
  padding_bytes = clamped_sum(padding_bytes, padding.padding_bytes());
  least_bytes = clamped_sum(least_bytes, padding.least_bytes);
}

}  // namespace hbmscope
