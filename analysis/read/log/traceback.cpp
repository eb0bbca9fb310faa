#include "analysis/read/log/traceback.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace hbmscope::log {
namespace {

// Words of a logger may precede: "ERROR 10-25 11:17:27 [core.py:720]   File "x.py", line 3, in f".
std::optional<TracebackFrame> frame_of(std::string_view line) {
  constexpr std::string_view file = "File \"", number = "\", line ", in = ", in ";
  const std::size_t begin = line.find(file);
  if (begin == std::string_view::npos) return std::nullopt;
  line.remove_prefix(begin + file.size());
  const std::size_t end = line.find(number);
  if (end == std::string_view::npos) return std::nullopt;
  TracebackFrame frame;
  frame.file = line.substr(0, end);
  line.remove_prefix(end + number.size());
  const auto parsed = std::from_chars(line.data(), line.data() + line.size(), frame.line);
  if (parsed.ec != std::errc()) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(parsed.ptr - line.data()));
  frame.function = line.starts_with(in) ? line.substr(in.size()) : line.substr(0, 0);
  while (!frame.function.empty() && (frame.function.back() == ' ' || frame.function.back() == '\r'))
    frame.function.pop_back();
  if (frame.function.empty()) frame.function = "<module>";
  return frame;
}

}  // namespace

std::vector<TracebackFrame> find_traceback(std::span<const std::string> lines) {
  // Source lines, carets and what libraries say stand between frames and after them.
  constexpr std::size_t between_max = 12, frames_max = 200;
  std::vector<TracebackFrame> frames;
  std::size_t since = 0;
  for (std::size_t i = lines.size(); i-- > 0 && frames.size() < frames_max;) {
    if (lines[i].find("Traceback (most recent call last)") != std::string_view::npos) break;
    if (auto frame = frame_of(lines[i])) {
      frames.push_back(std::move(*frame));
      since = 0;
    } else if (++since > between_max) {
      break;
    }
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace hbmscope::log
