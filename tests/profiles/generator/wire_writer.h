// The parts of the protobuf wire format that a pprof writer needs (https://protobuf.dev/programming-guides/encoding/).
// Deliberately separate from the project's own writer: the test of a reader should share no code with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hbmscope::test {

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

inline void put_tag(std::string& out, std::uint32_t field, WireType type) {
  put_varint(out, (std::uint64_t{field} << 3) | static_cast<std::uint8_t>(type));
}
// As in proto3, zero is not written.
inline void put_integer(std::string& out, std::uint32_t field, std::uint64_t value) {
  if (value == 0) return;
  put_tag(out, field, WireType::varint);
  put_varint(out, value);
}
inline void put_bytes(std::string& out, std::uint32_t field, std::string_view bytes) {
  put_tag(out, field, WireType::bytes);
  put_varint(out, bytes.size());
  out.append(bytes);
}

}  // namespace hbmscope::test
