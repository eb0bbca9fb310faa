// Which pairs of neighbouring characters a text has: a first look that rules out most words at once. A line of 100
// bytes is looked through once, in some 100 ns; then each of a hundred patterns takes two or three look-ups instead of
// a search.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hbmscope {

class LetterPairs {
 public:
  explicit LetterPairs(std::string_view text) {
    for (std::size_t i = 1; i < text.size(); ++i) add(text[i - 1], text[i]);
    // A line end may break a word.
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      if (at > 0 && at + 1 < text.size()) add(text[at - 1], text[at + 1]);
  }

  // False: the text certainly doesn't have this pattern. A blank in it stands for any space, and {name} for anything.
  bool may_have(std::string_view pattern) const {
    char before = ' ';
    bool is_in_field = false;
    for (const char c : pattern) {
      if (is_in_field || c == '{' || c == ' ') {
        is_in_field = c != '}' && (is_in_field || c == '{');
        before = ' ';
        continue;
      }
      if (before != ' ' && !has(before, c)) return false;
      before = c;
    }
    return true;
  }

 private:
  // The lower six bits of both: some pairs share a place, as those of capital and small letters do.
  static std::size_t place_of(char a, char b) {
    return static_cast<std::size_t>(static_cast<unsigned char>(a) & 63) << 6 | (static_cast<unsigned char>(b) & 63);
  }
  void add(char a, char b) { bits_[place_of(a, b) / 64] |= std::uint64_t{1} << place_of(a, b) % 64; }
  bool has(char a, char b) const { return (bits_[place_of(a, b) / 64] >> place_of(a, b) % 64 & 1) != 0; }

  std::array<std::uint64_t, 64> bits_{};
};

}  // namespace hbmscope
