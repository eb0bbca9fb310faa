// What a terminal can show and a pipe can't: colours, bars, a line of progress. All of it disappears when the output is
// not a terminal, or when NO_COLOR is set (https://no-color.org).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "analysis/model/result.h"
#include "analysis/read/read_control.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope::cli {

enum class Ink { plain, dim, bold, good, bad, accent };

class Terminal {
 public:
  static Terminal of_stdout();
  explicit Terminal(bool has_colors, bool has_bars, int columns)
      : colors_(has_colors), bars_(has_bars), columns_(columns) {}

  std::string paint(std::string_view text, Ink ink) const;
  // A bar of at most `cells` characters for part / whole, in eighths of a character; empty in a pipe.
  std::string bar(std::int64_t part, std::int64_t whole, int cells) const;
  // A character for each value, as high as it is of `highest` in eighths; empty in a pipe.
  std::string curve(std::span<const std::uint64_t> values, std::uint64_t highest) const;
  int columns() const { return columns_; }

 private:
  bool colors_, bars_;
  int columns_;
};

// Padded to a width in characters (not bytes), on the left or on the right.
std::string pad_left(std::string_view text, std::size_t width);
std::string pad_right(std::string_view text, std::size_t width);
std::size_t display_width(std::string_view text);
// The end of a text that fits, with an ellipsis before it; the whole text where it fits.
std::string fit_end(std::string_view text, std::size_t width);

// Prints how far a reader, or a pass over a trace, is on stderr, once it has taken a second and only on a terminal.
class ProgressLine {
 public:
  ProgressLine(const std::string& file, const ReadControl& control);
  ProgressLine(const std::string& what, const PassControl& control);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  using Line = std::function<std::string()>;
  void start(Line line);
  void run(const Line& line);
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

// "hbmscope: ..." on stderr. Whoever read that may have gone: no reason to end, least of all while a job is observed.
void say(const std::string& line);
void print_error(const Error& error);  // Likewise.
// False after saying so on stderr: a full disk or a closed pipe must not look like success.
bool print_to_stdout(std::string_view text);

}  // namespace hbmscope::cli
