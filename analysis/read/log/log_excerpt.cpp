#include "analysis/read/log/log_excerpt.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "analysis/read/format.h"
#include "analysis/read/input_file.h"
#include "analysis/read/log/log_line.h"

namespace hbmscope::log {
namespace {

constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr std::size_t shown_line_bytes_max = std::size_t{16} << 10;
constexpr std::size_t inner_lines_max = 100;  // A log inside one JSON string may be long.

// A log within a JSON string is unfolded; of other JSON the values are worth reading too.
std::vector<std::string> shown_lines_of(const std::string& line) {
  const std::size_t first = line.find_first_not_of(" \t");
  const bool is_json = first != std::string::npos && (line[first] == '{' || line[first] == '[');
  std::vector<std::string> texts = lines_of(line);
  if (is_json && texts.size() > 1 && line.find("\\n") == std::string::npos) return {line};
  return texts;
}

class Excerpt {
 public:
  Excerpt(std::uint64_t line, std::uint64_t around) : first_(line > around ? line - around : 1), last_(line + around) {}

  // False: nothing more is needed.
  bool feed(std::string_view text) {
    while (!text.empty() && number_ <= last_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      if (number_ >= first_)
        line_ += text.substr(0, std::min(end, shown_line_bytes_max - std::min(shown_line_bytes_max, line_.size())));
      has_text_ = true;
      if (end == text.size()) return true;
      end_line();
      text.remove_prefix(end + 1);
    }
    return number_ <= last_;
  }
  void finish() {
    if (has_text_) end_line();
  }

  std::uint64_t lines_seen() const { return number_ - 1; }
  std::vector<LogExcerpt::Line> take() { return std::move(lines_); }

 private:
  void end_line() {
    if (number_ >= first_) {
      const std::size_t before = lines_.size();
      for (std::string& text : shown_lines_of(line_))
        if (lines_.size() < before + inner_lines_max) lines_.push_back({number_, std::move(text)});
      if (lines_.size() == before) lines_.push_back({number_, {}});
      line_.clear();
    }
    ++number_;
    has_text_ = false;
  }

  std::uint64_t first_, last_, number_ = 1;  // number_: of the line that is being read.
  std::string line_;
  bool has_text_ = false;
  std::vector<LogExcerpt::Line> lines_;
};

}  // namespace

Result<LogExcerpt> read_log_excerpt(const std::string& file, std::uint64_t line, std::uint64_t around,
                                    const std::atomic<bool>& cancelled) {
  auto input = InputFile::open(file, FileOptions{}.max_inflated_bytes);
  if (!input) return Failure(std::move(input.error()));
  Excerpt excerpt(line, around);
  std::vector<std::uint8_t> piece(piece_bytes);
  bool is_at_end = false;
  while (!is_at_end) {
    if (cancelled) return Failure(refusal("reading was cancelled", {}, file));
    const auto got = input->read_next(piece);
    if (!got) return Failure(got.error());
    is_at_end = *got == 0;
    if (is_at_end)
      excerpt.finish();
    else if (!excerpt.feed({reinterpret_cast<const char*>(piece.data()), *got}))
      break;
  }
  if (excerpt.lines_seen() < line)
    return Failure(refusal("the file has fewer lines now", "It was changed since it was opened: open it again.", file));
  return LogExcerpt{file, line, excerpt.take(), !is_at_end};
}

}  // namespace hbmscope::log
