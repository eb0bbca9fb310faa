// Which of some hundred patterns a text may have: a first look that leaves two or three of them, in about a nanosecond
// a byte of the text, however many there are. Of each pattern it looks for three letters that few others have.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace hbmscope {

class PatternIndex {
 public:
  static constexpr std::size_t patterns_max = 512;

  // In a pattern a blank stands for any space, and {name} for anything.
  explicit PatternIndex(std::span<const std::string_view> patterns);

  // Calls with the number of each pattern that the text may have, in their order, until it returns true. The text
  // certainly doesn't have the others.
  template <class Use>
  bool for_each_candidate(std::string_view text, const Use& use) const {
    const Numbers found = candidates(text);
    for (std::size_t word = 0; word < found.size(); ++word)
      for (std::uint64_t bits = found[word]; bits != 0; bits &= bits - 1)
        if (use(word * 64 + static_cast<std::size_t>(std::countr_zero(bits)))) return true;
    return false;
  }

 private:
  using Numbers = std::array<std::uint64_t, patterns_max / 64>;
  using Letters = std::uint32_t;  // Three of them.

  Numbers candidates(std::string_view text) const;
  static std::size_t place_of(Letters letters) { return letters * 0x9e3779b1U >> 16; }

  Numbers always_{};                                      // Patterns without three letters in a row.
  std::vector<std::pair<Letters, std::size_t>> letters_;  // Sorted; the number of a pattern.
  std::vector<std::uint64_t> places_ = std::vector<std::uint64_t>(1024);
};

}  // namespace hbmscope
