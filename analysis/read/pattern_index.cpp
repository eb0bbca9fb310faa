#include "analysis/read/pattern_index.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace hbmscope {
namespace {

// All threes of letters of a pattern that stand in one word.
std::vector<std::uint32_t> threes_of(std::string_view pattern) {
  std::vector<std::uint32_t> threes;
  std::uint32_t last = 0;
  std::size_t count = 0;
  bool is_in_field = false;
  for (const char c : pattern) {
    if (is_in_field || c == '{' || c == ' ') {
      is_in_field = c != '}' && (is_in_field || c == '{');
      count = 0;
      continue;
    }
    last = (last << 8 | static_cast<unsigned char>(c)) & 0xffffffU;
    if (++count >= 3) threes.push_back(last);
  }
  return threes;
}

// Which lines about memory have whatever they say.
constexpr std::string_view usual_words = "memory allocated allocation allocator worker process failed error warning for";

}  // namespace

PatternIndex::PatternIndex(std::span<const std::string_view> patterns) {
  if (patterns.size() > patterns_max) throw std::length_error("PatternIndex has too many patterns");
  std::map<Letters, std::size_t> uses;
  for (const std::string_view pattern : patterns)
    for (const Letters three : threes_of(pattern)) ++uses[three];
  for (const Letters three : threes_of(usual_words)) uses[three] += patterns.size();
  for (std::size_t number = 0; number < patterns.size(); ++number) {
    const std::vector<Letters> threes = threes_of(patterns[number]);
    if (threes.empty()) {
      always_[number / 64] |= std::uint64_t{1} << number % 64;
      continue;
    }
    const Letters rarest =
        *std::min_element(threes.begin(), threes.end(), [&](Letters a, Letters b) { return uses[a] < uses[b]; });
    letters_.emplace_back(rarest, number);
    places_[place_of(rarest) / 64] |= std::uint64_t{1} << place_of(rarest) % 64;
  }
  std::sort(letters_.begin(), letters_.end());
}

PatternIndex::Numbers PatternIndex::candidates(std::string_view text) const {
  Numbers found = always_;
  const std::uint64_t* const places = places_.data();
  Letters last = 0;
  const auto add = [&] {
    for (auto each = std::lower_bound(letters_.begin(), letters_.end(), std::pair(last, std::size_t{0}));
         each != letters_.end() && each->first == last; ++each)
      found[each->second / 64] |= std::uint64_t{1} << each->second % 64;
  };
  for (const char c : text) {
    if (c == '\n') continue;  // It may break a word.
    last = (last << 8 | static_cast<unsigned char>(c)) & 0xffffffU;
    const std::size_t place = place_of(last);
    if ((places[place / 64] >> place % 64 & 1) != 0) add();
  }
  return found;
}

}  // namespace hbmscope
