// A field of a CSV file by RFC 4180: valid UTF-8, quoted if necessary.
#pragma once

#include <string>
#include <string_view>

#include "analysis/units/utf8.h"

namespace hbmscope {

inline std::string csv_text(std::string_view bytes) {
  std::string text = valid_utf8(bytes);
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace hbmscope
