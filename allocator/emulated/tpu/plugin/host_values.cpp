#include "allocator/emulated/tpu/plugin/host_values.h"

#include <algorithm>
#include <cstring>
#include <new>

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

std::uint64_t bytes_of(const std::vector<std::int64_t>& dimensions, std::uint64_t bytes_of_value) {
  std::uint64_t bytes = bytes_of_value;
  for (const std::int64_t size : dimensions) bytes *= static_cast<std::uint64_t>(size);
  return bytes;
}

// Calls visit(bytes before it in row-major order, its offset by the strides) for each value.
template <class Visit>
void for_each_value(const std::vector<std::int64_t>& dimensions, std::span<const std::int64_t> strides,
                    std::uint64_t bytes_of_value, const Visit& visit) {
  const std::uint64_t bytes = bytes_of(dimensions, bytes_of_value);
  std::vector<std::int64_t> index(dimensions.size());
  std::int64_t offset = 0;
  for (std::uint64_t at = 0; at < bytes; at += bytes_of_value) {
    visit(at, offset);
    for (std::size_t i = index.size(); i-- > 0;) {
      offset += strides[i];
      if (++index[i] < dimensions[i]) break;
      offset -= strides[i] * dimensions[i];
      index[i] = 0;
    }
  }
}

}  // namespace

HostValues keep_values(HostRoom& room, const void* data, const std::vector<std::int64_t>& dimensions,
                       std::span<const std::int64_t> strides, std::uint64_t bytes_of_value) {
  const std::uint64_t bytes = bytes_of(dimensions, bytes_of_value);
  if (bytes == 0 || data == nullptr || !room.take(bytes)) return nullptr;
  std::unique_ptr<std::vector<std::byte>> kept;
  try {
    kept = std::make_unique<std::vector<std::byte>>(bytes);
  } catch (const std::bad_alloc&) {
    room.give_back(bytes);
    return nullptr;
  }
  const auto* from = static_cast<const std::byte*>(data);
  if (strides.size() != dimensions.size() || is_row_major(dimensions, strides, bytes_of_value)) {
    std::memcpy(kept->data(), from, bytes);
  } else {
    for_each_value(dimensions, strides, bytes_of_value, [&](std::uint64_t at, std::int64_t offset) {
      std::memcpy(kept->data() + at, from + offset, bytes_of_value);
    });
  }
  return {kept.release(), [&room](const std::vector<std::byte>* values) {
            room.give_back(values->size());
            delete values;
          }};
}

std::vector<std::int64_t> strides_from(const std::vector<std::int64_t>& dimensions,
                                       std::span<const std::int64_t> minor_to_major, std::uint64_t bytes_of_value) {
  std::vector<std::int64_t> strides;
  if (minor_to_major.size() != dimensions.size()) return strides;
  strides.resize(dimensions.size());
  auto stride = static_cast<std::int64_t>(bytes_of_value);
  for (const std::int64_t dimension : minor_to_major) {
    strides[static_cast<std::size_t>(dimension)] = stride;
    stride *= dimensions[static_cast<std::size_t>(dimension)];
  }
  return strides;
}

void write_array(const HostValues& values, void* to, const std::vector<std::int64_t>& dimensions,
                 std::span<const std::int64_t> strides, std::uint64_t bytes_of_value) {
  const std::uint64_t bytes = bytes_of(dimensions, bytes_of_value);
  if (values == nullptr || strides.size() != dimensions.size() || is_row_major(dimensions, strides, bytes_of_value))
    return write_values(values, to, 0, bytes);
  auto* target = static_cast<std::byte*>(to);
  for_each_value(dimensions, strides, bytes_of_value, [&](std::uint64_t at, std::int64_t offset) {
    std::memcpy(target + offset, values->data() + at, bytes_of_value);
  });
}

void write_values(const HostValues& values, void* to, std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t kept = values != nullptr ? values->size() : 0;
  const std::uint64_t copied = offset < kept ? std::min(bytes, kept - offset) : 0;
  if (copied != 0) std::memcpy(to, values->data() + offset, copied);
  std::memset(static_cast<std::byte*>(to) + copied, 0, bytes - copied);
}

}  // namespace hbmscope::allocator::tpu::plugin
