// Any bytes as a list of arrays, alone and after the length of a safetensors file: refused with an error text, or
// arrays whose padding is never negative.
#include <string>

#include "analysis/query/array_padding.h"
#include "analysis/read/array_listing/read_array_listing.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using namespace hbmscope;
namespace tpu = allocator::tpu;

void check(std::span<const std::uint8_t> bytes) {
  const auto arrays = parse_array_listing(bytes, "list");
  if (!arrays) return require(!arrays.error().what.empty(), "a refusal without words");
  const tpu::Generation& generation = *tpu::find_generation("v5e");
  for (const ListedArray& array : *arrays) {
    tpu::Shape shape = array.shape;
    if (!shape.layout) shape = tpu::default_shape(generation, *shape.type, shape.dimensions);
    const auto padding = compute_array_padding(std::move(shape), generation, tpu::SecondMinor::as_compiled);
    if (padding) require(padding->least_bytes <= padding->bytes, "the order that takes least takes more");
  }
}

}  // namespace

FUZZ_TARGET(fuzz_read_array_listing, data, size) {
  check({data, size});
  std::string file(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(size >> (8 * i));
  file.append(reinterpret_cast<const char*>(data), size);
  check({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()});
  return 0;
}
