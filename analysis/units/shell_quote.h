// A word of a command line that a person can paste.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "analysis/units/ascii.h"

namespace hbmscope {

// Quotes for POSIX shells: unchanged if no quoting is needed, otherwise in single quotes.
inline std::string shell_quote(std::string_view text) {
  const auto is_plain = [](char one) {
    return is_letter(one) || is_digit(one) || std::string_view("_-./=,:@%+").find(one) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string quoted = "'";
  for (const char one : text) quoted += one == '\'' ? std::string("'\\''") : std::string(1, one);
  return quoted + "'";
}

}  // namespace hbmscope
