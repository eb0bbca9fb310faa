#include "analysis/read/rmm/debug_line.h"

#include <optional>

#include "analysis/read/rmm/rmm_clock.h"

namespace hbmscope::rmm {
namespace {

// "[text]rest": the text without spaces around it; `line` keeps the rest.
std::optional<std::string_view> take_bracket(std::string_view& line) {
  if (!line.starts_with('[')) return std::nullopt;
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view text = trimmed(line.substr(1, end - 1));
  line.remove_prefix(end + 1);
  return text;
}

// "1024B"
bool read_size(std::string_view text, std::uint64_t& bytes) {
  if (!text.ends_with('B')) return false;
  text.remove_suffix(1);
  return read_number(text, 10, bytes);
}

// The head: thread, time and level.
bool take_head(std::string_view& line, Row& row) {
  const auto thread = take_bracket(line), time = take_bracket(line), level = take_bracket(line);
  if (!thread || !time || !level || !read_number(*thread, 10, row.thread) || !find_time(*time)) return false;
  row.time = *time;
  line = trimmed(line);
  return true;
}

}  // namespace

DebugLine read_debug_line(std::string_view line, Row& row) {
  constexpr std::string_view stream_name = "stream ", upstream = "Upstream ";
  if (!take_head(line, row)) return DebugLine::other;
  if (!line.starts_with("[A]") && !line.starts_with("[D]")) return DebugLine::message;
  row.action = line[1] == 'A' ? Action::allocate : Action::free;
  row.address = 0;
  line.remove_prefix(3);
  auto stream = take_bracket(line), size = take_bracket(line);
  if (!stream || !size || (!stream->starts_with(stream_name) && !stream->starts_with("Stream ")))
    return DebugLine::message;
  // The default stream may have a name.
  if (!read_pointer(stream->substr(stream_name.size()), row.stream)) row.stream = 0;
  if (size->starts_with(upstream)) {
    size->remove_prefix(upstream.size());
    if (!line.starts_with("[FAILURE") || !read_size(*size, row.bytes)) return DebugLine::message;
    row.action = Action::allocate_failure;
    return DebugLine::event;
  }
  if (!read_size(*size, row.bytes)) return DebugLine::message;
  const auto pointer = take_bracket(line);
  if (!pointer) return line.empty() && row.action == Action::allocate ? DebugLine::request : DebugLine::message;
  return read_pointer(*pointer, row.address) ? DebugLine::event : DebugLine::message;
}

bool is_debug_log(std::string_view line) {
  Row row;
  const DebugLine kind = read_debug_line(line, row);
  return kind == DebugLine::event || kind == DebugLine::request ||
         (kind == DebugLine::message && line.find("RMM LOG BEGIN") != std::string_view::npos);
}

}  // namespace hbmscope::rmm
