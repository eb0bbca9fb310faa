// What a terminal can show and a pipe can't: colours, bars, a progress line. All of it is disabled if the output is not
// a terminal or if NO_COLOR is set (https://no-color.org).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "analysis/document/text.h"
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
  // One character per value, its height in eighths of `highest`; empty in a pipe.
  std::string curve(std::span<const std::uint64_t> values, std::uint64_t highest) const;
  int columns() const { return columns_; }
  // For cells of tables, which are padded.
  Terminal without_colors() const { return Terminal(false, bars_, columns_); }
  TextStyle style() const;  // For documents.

 private:
  bool colors_, bars_;
  int columns_;
};

// Shows the progress of a reader, or of a pass over a trace, on stderr: only on a terminal, and only after one second.
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

// Prints "hbmscope: ..." to stderr. A closed stderr is ignored, so that it never ends the observation of a job.
void say(const std::string& line);
void print_error(const Error& error);  // Also ignores a closed stderr.
// With --json, for whoever reads only the output: why there is no answer (app/cli/JSON.md).
std::string json_from_error(const Error& error);
// The last one that was printed.
const std::optional<Error>& last_error();
// On failure prints an error to stderr and returns false: a full disk or a closed pipe must not look like success.
bool print_to_stdout(std::string_view text);
bool has_printed_to_stdout();
// The same for data in lines: a terminal gets no control characters, because it would obey those in names.
bool print_lines_to_stdout(std::string_view lines);

}  // namespace hbmscope::cli
