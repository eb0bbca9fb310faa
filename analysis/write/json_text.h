// What the JSON library leaves as it is although a terminal may obey it.
#pragma once

#include <string>

#include <fmt/format.h>

namespace hbmscope {

// As escapes: DEL, U+0080 to U+009F, and what changes the direction of the text behind it (Unicode's Bidi_Control).
// They occur only inside strings. The other control characters already are escapes.
inline std::string json_with_escaped_controls(std::string json) {
  if (json.find_first_of("\x7f\xc2\xd8\xe2") == std::string::npos) return json;
  const auto byte = [&](std::size_t at) { return at < json.size() ? static_cast<unsigned char>(json[at]) : 0U; };
  std::string escaped;
  escaped.reserve(json.size() + 16);
  for (std::size_t at = 0; at < json.size(); ++at) {
    unsigned code = 0;
    std::size_t bytes = 2;
    if (json[at] == '\x7f') {
      code = 0x7f;
      bytes = 1;
    } else if (json[at] == '\xc2' && byte(at + 1) < 0xa0) {
      code = byte(at + 1);
    } else if (json[at] == '\xd8' && byte(at + 1) == 0x9c) {
      code = 0x61c;
    } else if (json[at] == '\xe2' && (byte(at + 1) == 0x80 || byte(at + 1) == 0x81)) {
      const unsigned found = (byte(at + 1) == 0x80 ? 0x2000 : 0x2040) + (byte(at + 2) & 0x3f);
      const bool changes_direction = found == 0x200e || found == 0x200f || (found >= 0x202a && found <= 0x202e) ||
                                     (found >= 0x2066 && found <= 0x2069);
      code = changes_direction ? found : 0;
      bytes = 3;
    }
    if (code == 0) {
      escaped += json[at];
      continue;
    }
    escaped += fmt::format("\\u{:04x}", code);
    at += bytes - 1;
  }
  return escaped;
}

}  // namespace hbmscope
