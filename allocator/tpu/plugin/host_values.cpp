#include "allocator/tpu/plugin/host_values.h"

#include <algorithm>
#include <cstring>

namespace hbmscope::allocator::tpu::plugin {
namespace {

bool is_row_major(const std::vector<std::int64_t>& dimensions, std::span<const std::int64_t> strides,
                  std::uint64_t bytes_of_value) {
  auto expected = static_cast<std::int64_t>(bytes_of_value);
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    if (dimensions[i] != 1 && strides[i] != expected) return false;
    expected *= dimensions[i];
  }
  return true;
}

}  // namespace

HostValues keep_values(HostRoom& room, const void* data, const std::vector<std::int64_t>& dimensions,
                       std::span<const std::int64_t> strides, std::uint64_t bytes_of_value) {
  std::uint64_t bytes = bytes_of_value;
  for (const std::int64_t size : dimensions) bytes *= static_cast<std::uint64_t>(size);
  if (bytes == 0 || data == nullptr || !room.take(bytes)) return nullptr;
  auto* kept = new std::vector<std::byte>(bytes);
  const auto* from = static_cast<const std::byte*>(data);
  if (strides.size() != dimensions.size() || is_row_major(dimensions, strides, bytes_of_value)) {
    std::memcpy(kept->data(), from, bytes);
  } else {
    std::vector<std::int64_t> index(dimensions.size());
    for (std::uint64_t at = 0; at < bytes; at += bytes_of_value) {
      std::int64_t offset = 0;
      for (std::size_t i = 0; i < index.size(); ++i) offset += index[i] * strides[i];
      std::memcpy(kept->data() + at, from + offset, bytes_of_value);
      for (std::size_t i = index.size(); i-- > 0;) {
        if (++index[i] < dimensions[i]) break;
        index[i] = 0;
      }
    }
  }
  return {kept, [&room](const std::vector<std::byte>* values) {
            room.give_back(values->size());
            delete values;
          }};
}

void write_values(const HostValues& values, void* to, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t kept = values != nullptr ? values->size() : 0;
  const std::uint64_t copied = offset < kept ? std::min(bytes, kept - offset) : 0;
  if (copied != 0) std::memcpy(to, values->data() + offset, copied);
  std::memset(static_cast<std::byte*>(to) + copied, 0, bytes - copied);
}

}  // namespace hbmscope::allocator::tpu::plugin
