// Substring search for all filter and find fields. Ignores the case of ASCII letters.
#pragma once

#include <algorithm>
#include <string_view>

#include "analysis/units/ascii.h"

namespace hbmscope {

inline bool contains_ignoring_case(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != text.end();
}

}  // namespace hbmscope
