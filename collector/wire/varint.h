// LEB128 numbers, written and read with bounds checks. A 64-bit number takes at most ten bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::wire {

constexpr std::size_t varint_bytes_max = 10;

constexpr std::uint64_t zigzag(std::uint64_t value) {
  return value << 1 ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(value) >> 63);
}
constexpr std::uint64_t unzigzag(std::uint64_t value) {
  return value >> 1 ^ (0 - (value & 1));
}

// `out` must have room for ten bytes. Returns the end of the written bytes.
inline std::uint8_t* write_varint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Reads with bounds checks. After the first failure every further read returns 0.
class VarintReader {
 public:
  VarintReader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  std::uint64_t read() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const std::uint8_t byte = *at_++;
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (shift & 63);
      if (byte < 0x80) return value;
    }
    failed_ = true;
    at_ = end_;
    return 0;
  }
  std::uint8_t read_byte() {
    if (at_ == end_) failed_ = true;
    return at_ == end_ ? std::uint8_t{0} : *at_++;
  }
  // Returns the next `bytes` bytes and skips them, or null if there are fewer.
  const std::uint8_t* take(std::uint64_t bytes) {
    if (bytes > remaining()) failed_ = true;
    if (failed_) return nullptr;
    const std::uint8_t* part = at_;
    at_ += bytes;
    return part;
  }

  bool failed() const { return failed_; }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  const std::uint8_t* at() const { return at_; }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

}  // namespace hbmscope::wire
