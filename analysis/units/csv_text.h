// A field of a CSV file by RFC 4180: valid UTF-8, quoted if necessary.
#pragma once

#include <string>
#include <string_view>

#include "analysis/units/utf8.h"

namespace hbmscope {

// A spreadsheet takes a cell that begins like this for a formula, which may run programs; an apostrophe makes it a
// text.
inline bool begins_like_formula(std::string_view text) {
  return !text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos;
}

enum class CsvReader { spreadsheet, program };  // A program gets each text as it is.

inline std::string csv_text(std::string_view bytes, CsvReader reader = CsvReader::spreadsheet) {
  std::string text = valid_utf8(bytes);
  if (reader == CsvReader::spreadsheet && begins_like_formula(text)) text.insert(text.begin(), '\'');
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"') result += '"';
    result += c;
  }
  return result + '"';
}

}  // namespace hbmscope
