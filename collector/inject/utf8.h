// One character as UTF-8, for texts of fixed size.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmscope::inject {

constexpr std::size_t utf8_bytes_max = 4;

// `out` must have room for four more bytes. Returns the number of bytes written.
inline std::size_t put_utf8(std::uint32_t character, char* out) {
  std::size_t length = 0;
  const auto put = [&](std::uint32_t byte) { out[length++] = static_cast<char>(byte); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xc0 | character >> 6);
    put(0x80 | (character & 0x3f));
  } else if (character < 0x10000) {
    put(0xe0 | character >> 12);
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  } else {
    put(0xf0 | (character >> 18 & 7));
    put(0x80 | (character >> 12 & 0x3f));
    put(0x80 | (character >> 6 & 0x3f));
    put(0x80 | (character & 0x3f));
  }
  return length;
}

}  // namespace hbmscope::inject
