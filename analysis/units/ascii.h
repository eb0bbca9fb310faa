// Classes of ASCII characters, whatever the locale.
#pragma once

namespace hbmscope {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace hbmscope
