// Classes of ASCII characters, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline std::string lower(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = lower(c);
  return folded;
}

// With a capital letter at its begin, if that is a letter.
inline std::string capitalised(std::string_view text) {
  std::string copy(text);
  if (!copy.empty() && copy[0] >= 'a' && copy[0] <= 'z') copy[0] = static_cast<char>(copy[0] - 'a' + 'A');
  return copy;
}

}  // namespace hbmscope
