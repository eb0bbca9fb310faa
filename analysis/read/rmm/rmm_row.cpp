#include "analysis/read/rmm/rmm_row.h"

#include <charconv>
#include <cstring>

namespace hbmscope::rmm {
namespace {

constexpr std::string_view column_names = "Thread,Time,Action,Pointer,Size,Stream";

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '"';
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

// The text up to the next comma; false if there is none.
bool take_field(std::string_view& line, std::string_view& field) {
  const void* comma = std::memchr(line.data(), ',', line.size());
  if (comma == nullptr) return false;
  const auto length = static_cast<std::size_t>(static_cast<const char*>(comma) - line.data());
  field = trimmed(line.substr(0, length));
  line.remove_prefix(length + 1);
  return true;
}

}  // namespace

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

}  // namespace hbmscope::rmm
