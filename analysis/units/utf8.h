// Files contain names as bytes; output is text. Bytes that are not valid UTF-8 are shown and exported as U+FFFD.
#pragma once

#include <string>
#include <string_view>

namespace hbmscope {

// As in table 3-7 of the Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

// Every byte that is not part of a character becomes U+FFFD.
std::string valid_utf8(std::string_view text);

// For one line of a terminal or table: valid UTF-8. Control characters (a newline, an escape sequence) become U+FFFD
// too, and so do those that change the direction of the text after them.
std::string printable(std::string_view text);
// The same for whole lines: ends of lines and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace hbmscope
