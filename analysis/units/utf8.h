// Names come from files as bytes and leave as text: what is not UTF-8 is shown and exported with replacement signs.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

// By the Unicode standard's table 3-7: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text);

// Every byte that is not part of a character becomes U+FFFD.
std::string valid_utf8(std::string_view text);

// For a line of a terminal or a table: valid, and control characters (a newline, the escape that begins a colour or
// worse) become U+FFFD too.
std::string printable(std::string_view text);

}  // namespace hbmscope
