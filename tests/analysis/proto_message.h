// Protocol buffer messages written by hand in tests.
#pragma once

#include <cstdint>
#include <string>

namespace hbmscope::tests {

// A message, field by field.
struct Message {
  std::string bytes;

  Message& number(std::uint32_t field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
    return *this;
  }
  Message& text(std::uint32_t field, const std::string& value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes += value;
    return *this;
  }
  Message& add(std::uint32_t field, const Message& value) { return text(field, value.bytes); }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
    bytes += static_cast<char>(value);
  }
};

}  // namespace hbmscope::tests
