// What the JSON library leaves as it is although a terminal may obey it.
#pragma once

#include <string>

#include <fmt/format.h>

namespace hbmscope {

// DEL and U+0080 to U+009F as escapes; they occur only inside strings. The other control characters already are
// escapes.
inline std::string json_with_escaped_controls(std::string json) {
  const auto is_high_control = [](const std::string& text, std::size_t at) {
    return text[at] == '\xc2' && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
  };
  if (json.find_first_of("\x7f\xc2") == std::string::npos) return json;
  std::string escaped;
  escaped.reserve(json.size() + 16);
  for (std::size_t at = 0; at < json.size(); ++at) {
    if (json[at] == '\x7f')
      escaped += "\\u007f";
    else if (is_high_control(json, at))
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned char>(json[++at]));
    else
      escaped += json[at];
  }
  return escaped;
}

}  // namespace hbmscope
