// Reads a log word by word: between words there may be any space, line ends too, for people paste what a window has
// wrapped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/read/tpu_oom/tpu_report.h"

namespace hbmscope::tpu_oom {

class WordCursor {
 public:
  WordCursor(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t offset() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }
  // These words follow, the last one perhaps followed by more of it: they are passed. Else nothing is.
  bool take(std::string_view words);
  void skip_space();
  // "15.75G", "16.0K", "0B", "1.347 GiB", "8192" (bytes).
  MaybeBytes take_size();
  std::optional<std::uint64_t> take_number();  // Decimal, or hexadecimal after 0x.
  std::string take_name();                     // Letters, digits, '_', '.', '-'.
  // What stands before `end`, which is passed too; at most `bytes_max`. Nothing: it isn't there.
  std::optional<std::string> take_until(std::string_view end, std::size_t bytes_max);

 private:
  std::string_view text_;
  std::size_t at_;
};

// The next place from `at` on where these words stand; npos: nowhere.
std::size_t find_words(std::string_view text, std::string_view words, std::size_t at);
// With every run of space as one, cut at `bytes_max`.
std::string in_one_line(std::string_view text, std::size_t bytes_max);

}  // namespace hbmscope::tpu_oom
