#include "analysis/units/utf8.h"

#include <cstddef>
#include <cstdint>

namespace hbmscope {
namespace {

constexpr std::string_view replacement = "\uFFFD";

// The length of the character at the beginning of `text`; 0 if it is not a valid character.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<std::uint8_t>(text[i]) : 0; };
  const auto in = [&](std::size_t i, int low, int high) { return byte(i) >= low && byte(i) <= high; };
  if (text.empty()) return 0;
  if (byte(0) < 0x80) return 1;
  if (in(0, 0xc2, 0xdf)) return in(1, 0x80, 0xbf) ? 2 : 0;
  if (in(0, 0xe0, 0xef)) {
    const bool second = in(1, byte(0) == 0xe0 ? 0xa0 : 0x80, byte(0) == 0xed ? 0x9f : 0xbf);
    return second && in(2, 0x80, 0xbf) ? 3 : 0;
  }
  if (in(0, 0xf0, 0xf4)) {
    const bool second = in(1, byte(0) == 0xf0 ? 0x90 : 0x80, byte(0) == 0xf4 ? 0x8f : 0xbf);
    return second && in(2, 0x80, 0xbf) && in(3, 0x80, 0xbf) ? 4 : 0;
  }
  return 0;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<std::uint8_t>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return first == 0xc2 && static_cast<std::uint8_t>(character[1]) < 0xa0;  // U+0080 to U+009F.
}

// Characters without a picture that change the order in which others are shown, or begin a new line: U+061C, U+200E and
// U+200F, U+2028 to U+202E, U+2066 to U+2069. A name with them may look like another one.
bool moves_text(std::string_view character) {
  if (character == "\u061c") return true;
  if (character.size() != 3) return false;
  const auto last = static_cast<std::uint8_t>(character[2]);
  if (character.starts_with("\xe2\x80")) return last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae);
  return character.starts_with("\xe2\x81") && last >= 0xa6 && last <= 0xa9;
}

bool is_printable(std::string_view character) {
  return !is_control(character) && !moves_text(character);
}

template <class Keep>
std::string replaced(std::string_view text, const Keep& keep) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length > 0 && keep(text.substr(0, length)))
      result += text.substr(0, length);
    else
      result += replacement;
    text.remove_prefix(length > 0 ? length : 1);
  }
  return result;
}

}  // namespace

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  return replaced(text, [](std::string_view) { return true; });
}

std::string printable(std::string_view text) {
  return replaced(text, is_printable);
}

std::string printable_lines(std::string_view text) {
  return replaced(text, [&](std::string_view character) {
    const char* const next = character.data() + 1;
    if (character == "\r") return next != text.data() + text.size() && *next == '\n';
    return character == "\n" || character == "\t" || is_printable(character);
  });
}

}  // namespace hbmscope
