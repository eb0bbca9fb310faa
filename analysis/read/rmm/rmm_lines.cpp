#include "analysis/read/rmm/rmm_lines.h"

#include <charconv>
#include <cstring>

#include "analysis/units/ascii.h"

namespace hbmscope::rmm {
namespace {

constexpr std::string_view column_names = "Thread,Time,Action,Pointer,Size,Stream";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '"';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool read_number(std::string_view text, int base, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_pointer(std::string_view text, std::uint64_t& pointer) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  if (text == "(nil)" || text == "nullptr") {
    pointer = 0;
    return true;
  }
  return read_number(text, 16, pointer);
}

bool read_action(std::string_view text, Action& action) {
  if (text == "allocate")
    action = Action::allocate;
  else if (text == "free" || text == "deallocate")
    action = Action::free;
  else if (text == "allocate failure")
    action = Action::allocate_failure;
  else
    return false;
  return true;
}

// The text up to the next comma. Returns false if there is none.
bool take_field(std::string_view& line, std::string_view& field) {
  const void* comma = std::memchr(line.data(), ',', line.size());
  if (comma == nullptr) return false;
  const auto length = static_cast<std::size_t>(static_cast<const char*>(comma) - line.data());
  field = trimmed(line.substr(0, length));
  line.remove_prefix(length + 1);
  return true;
}

constexpr std::int64_t ns_per_s = 1'000'000'000;
constexpr std::int64_t ns_per_day = ns_per_s * 24 * 3600;
// The year 2255; later times in nanoseconds exceed 64 bits.
constexpr std::int64_t s_max = 9'000'000'000;
// The limit of midnights, for the same reason. A log with that many jumps about; it does not cover 270 years.
constexpr std::int64_t midnights_max = 100'000;

// Parses leading digits, at most `digits_max`, as a number, and removes them.
std::optional<std::int64_t> take_number(std::string_view& text, std::size_t digits_max) {
  std::size_t digits = 0;
  std::int64_t number = 0;
  while (digits < text.size() && is_digit(text[digits])) {
    if (digits == digits_max) return std::nullopt;
    number = number * 10 + (text[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

// The fraction of a second as nanoseconds; digits beyond the ninth are dropped.
std::optional<std::int64_t> ns_from_fraction(std::string_view text) {
  std::int64_t ns = 0, unit = ns_per_s / 10;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    ns += (c - '0') * unit;
    unit /= 10;
  }
  return ns;
}

std::optional<std::int64_t> take_two_digits(std::string_view& text, std::int64_t limit) {
  const auto number = take_number(text, 2);
  return number && *number < limit ? number : std::nullopt;
}

bool take_colon(std::string_view& text) {
  if (text.empty() || text.front() != ':') return false;
  text.remove_prefix(1);
  return true;
}

std::optional<TimeText> find_time_of_day(std::string_view text) {
  const auto hours = take_two_digits(text, 24);
  if (!hours || !take_colon(text)) return std::nullopt;
  const auto minutes = take_two_digits(text, 60);
  if (!minutes || !take_colon(text)) return std::nullopt;
  const auto seconds = take_two_digits(text, 61);  // 60 is a leap second.
  if (!seconds) return std::nullopt;
  std::int64_t fraction_ns = 0;
  if (!text.empty()) {
    if (text.front() != '.' && text.front() != ':') return std::nullopt;
    const auto fraction = ns_from_fraction(text.substr(1));
    if (!fraction) return std::nullopt;
    fraction_ns = *fraction;
  }
  return TimeText{((*hours * 60 + *minutes) * 60 + *seconds) * ns_per_s + fraction_ns, true};
}

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

RowFault read_row(std::string_view line, Row& row) {
  std::string_view thread, action, pointer, size;
  if (!take_field(line, thread) || !take_field(line, row.time) || !take_field(line, action) ||
      !take_field(line, pointer) || !take_field(line, size))
    return RowFault::fields;
  const std::string_view stream = trimmed(line);
  if (stream.find(',') != std::string_view::npos) return RowFault::fields;
  if (!read_action(action, row.action)) return RowFault::action;
  const bool are_numbers = read_number(thread, 10, row.thread) && read_pointer(pointer, row.address) &&
                           read_number(size, 10, row.bytes) && read_pointer(stream, row.stream);
  return are_numbers ? RowFault::none : RowFault::number;
}

bool is_header(std::string_view line) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (line.starts_with(byte_order_mark)) line.remove_prefix(byte_order_mark.size());
  std::size_t known = 0;
  for (const char c : line) {
    if (is_blank(c)) continue;
    if (known == column_names.size() || c != column_names[known]) return false;
    ++known;
  }
  return known == column_names.size();
}

std::optional<TimeText> find_time(std::string_view text) {
  if (text.size() > 2 && (text[1] == ':' || text[2] == ':')) return find_time_of_day(text);
  const auto seconds = take_number(text, 10);
  if (!seconds || *seconds >= s_max || (!text.empty() && text.front() != '.')) return std::nullopt;
  const auto fraction = ns_from_fraction(text.empty() ? text : text.substr(1));
  if (!fraction) return std::nullopt;
  return TimeText{*seconds * ns_per_s + *fraction, false};
}

std::int64_t Clock::time_of_next_row(std::string_view text) {
  const auto time = find_time(text);
  if (!time || (first_ && first_->is_of_day != time->is_of_day) || days_ == midnights_max) {
    ++unknown_;
    return now_ns_;
  }
  if (!first_) begin_at(*time);
  std::int64_t ns = time->ns + days_ * ns_per_day;
  if (time->is_of_day) {
    // A step back by more than half a day is a midnight. A step forward by that much just after a midnight is a thread
    // that took its time before it.
    const std::int64_t since_midnight_ns = now_ns_ - days_ * ns_per_day;
    if (ns < now_ns_ - ns_per_day / 2) {
      ++days_;
      ns += ns_per_day;
    } else if (days_ > 0 && ns > now_ns_ + ns_per_day / 2 && since_midnight_ns < 60 * ns_per_s) {
      ns -= ns_per_day;
    }
  }
  if (ns < now_ns_)
    ++backward_;
  else
    now_ns_ = ns;
  return now_ns_;
}

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
    constexpr std::string_view failure = "[FAILURE";
    if (!line.starts_with(failure) || !read_size(*size, row.bytes)) return DebugLine::message;
    row.action = Action::allocate_failure;
    row.reason = trimmed(line.substr(failure.size()));
    if (row.reason.ends_with(']')) row.reason.remove_suffix(1);
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
