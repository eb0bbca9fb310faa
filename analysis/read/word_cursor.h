// Reads a log word by word. Any space may separate words, including line ends, because users paste text that a window
// has wrapped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbmscope {

// A size as printed, and its rounding error.
struct PrintedBytes {
  std::uint64_t bytes = 0, error = 0;
};
using MaybeBytes = std::optional<PrintedBytes>;

// Both unknown, or printed the same.
inline bool is_same(const MaybeBytes& a, const MaybeBytes& b) {
  return a.has_value() == b.has_value() && (!a || a->bytes == b->bytes);
}

class WordCursor {
 public:
  WordCursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t offset() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  std::string_view rest() const { return text_.substr(at_); }
  // If these words follow (the last one may continue), advances past them. Otherwise does nothing.
  bool take(std::string_view words);
  void skip_space();
  // "15.75G", "16.0K", "0B", "1.347 GiB", "17.74 GB" (of 2^30 bytes too), "8192" (bytes), "20 bytes".
  MaybeBytes take_size();
  std::optional<std::uint64_t> take_number();  // Decimal, or hexadecimal after 0x.
  // Decimal, possibly with commas between thousands: "8,589,934,592".
  std::optional<std::uint64_t> take_grouped_number();
  std::string take_name();  // Letters, digits, '_', '.', '-'.
  // The text before `end`, at most `bytes_max`; advances past `end`. Nothing if `end` is missing.
  std::optional<std::string> take_until(std::string_view end, std::size_t bytes_max);

 private:
  std::string_view text_;
  std::size_t at_;
};

// The next position from `at` on with these words; npos: none.
std::size_t find_words(std::string_view text, std::string_view words, std::size_t at);
// Collapses every run of space to one blank, and truncates at `bytes_max`.
std::string in_one_line(std::string_view text, std::size_t bytes_max);

}  // namespace hbmscope
