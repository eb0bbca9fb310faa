// Values that a program has copied to a device, so that it can read them back. They take host memory, so there is a
// limit to all of them together; beyond it, and in everything that a program computes, values are zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace hbmscope::allocator::tpu::plugin {

// How much may still be kept. Under the client's lock.
class HostRoom {
 public:
  explicit HostRoom(std::uint64_t bytes = 0) : left_(bytes) {}
  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void give_back(std::uint64_t bytes) { left_ += bytes; }

 private:
  std::uint64_t left_;
};

// Row-major bytes, shared by copies of an array.
using HostValues = std::shared_ptr<const std::vector<std::byte>>;

// `strides` are in bytes, by dimension, and empty for row-major arrays. Returns null if there is no room.
HostValues keep_values(HostRoom& room, const void* data, const std::vector<std::int64_t>& dimensions,
                       std::span<const std::int64_t> strides, std::uint64_t bytes_of_value);
// Writes an array to host memory with these strides in bytes, by dimension; zeros where there are no values.
void write_array(const HostValues& values, void* to, const std::vector<std::int64_t>& dimensions,
                 std::span<const std::int64_t> strides, std::uint64_t bytes_of_value);
// The strides of an array that is dense in this order of dimensions. Row-major arrays have none.
std::vector<std::int64_t> strides_from(const std::vector<std::int64_t>& dimensions,
                                       std::span<const std::int64_t> minor_to_major, std::uint64_t bytes_of_value);
// Writes `bytes` from `offset` on, zeros where there are no values.
void write_values(const HostValues& values, void* to, std::uint64_t offset, std::uint64_t bytes);

}  // namespace hbmscope::allocator::tpu::plugin
