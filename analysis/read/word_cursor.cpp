#include "analysis/read/word_cursor.h"
#include "analysis/units/ascii.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace hbmscope {
namespace {

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
constexpr bool is_name(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
}

// 1024^1 and so on.
constexpr std::string_view units = "KMGTPE";

// Where a word or number goes on that a narrow window has broken: after the end of a long line.
std::size_t after_break(std::string_view text, std::size_t at) {
  constexpr std::size_t line_min = 40;
  if (at >= text.size() || text[at] != '\n') return at;
  const std::size_t before = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return at - begin >= line_min ? at + 1 : at;
}

// The rest of a number that a narrow window has broken: digits that a unit follows.
bool is_rest_of_size(std::string_view text, std::size_t at) {
  constexpr std::size_t digits_max = 8;
  std::size_t end = at;
  while (end < text.size() && end - at < digits_max && (is_digit(text[end]) || text[end] == '.')) ++end;
  if (end == at) return false;
  while (end < text.size() && is_space(text[end])) ++end;
  return end < text.size() &&
         (units.find(text[end]) != std::string_view::npos || text[end] == 'B' || text.substr(end).starts_with("bytes"));
}

// A unit in which a narrow window has broken the line: "Gi\nB". Its power of 1024, and where it ends.
struct BrokenUnit {
  std::size_t power = 0, end = 0;
};
std::optional<BrokenUnit> broken_unit_at(std::string_view text, std::size_t at) {
  bool is_broken = false;
  const auto next = [&] {
    const std::size_t after = after_break(text, at);
    is_broken = is_broken || after != at;
    at = after;
    return at < text.size() ? text[at] : '\0';
  };
  if (next() == ' ') ++at;
  const std::size_t power = units.find(next());
  if (power == std::string_view::npos) return std::nullopt;
  ++at;
  if (next() == 'i') ++at;
  if (next() != 'B' || !is_broken) return std::nullopt;
  ++at;
  if (at < text.size() && is_name(text[at]) && text[at] != '.') return std::nullopt;
  return BrokenUnit{power + 1, at};
}

// "18.84", and "2,00" as some languages write it.
struct Decimal {
  std::string digits;   // With a point.
  std::size_t end = 0;  // In the text.
};
Decimal decimal_at(std::string_view text, std::size_t at) {
  Decimal found{{}, at};
  bool has_point = false;
  const auto is_digit_after = [&](std::size_t place, int digits) {
    for (; digits > 0; --digits) {
      place = after_break(text, place + 1);
      if (place >= text.size() || !is_digit(text[place])) return false;
    }
    return true;
  };
  while (true) {
    at = found.digits.empty() ? found.end : after_break(text, found.end);
    if (at >= text.size() || (at != found.end && !is_rest_of_size(text, at))) return found;
    const char c = text[at];
    // Three digits follow a comma between thousands.
    const bool is_separator =
        (c == '.' && is_digit_after(at, 1)) || (c == ',' && is_digit_after(at, 1) && !is_digit_after(at, 3));
    if (!is_digit(c) && (found.digits.empty() || has_point || !is_separator)) return found;
    has_point = has_point || !is_digit(c);
    found.digits += is_digit(c) ? c : '.';
    found.end = at + 1;
  }
}

// Before " GiB" or " GB" the length of the space, which may have a line end; 0 if there is no such unit.
std::size_t space_before_unit(std::string_view text) {
  constexpr std::size_t space_max = 3;
  std::size_t space = 0;
  while (space < std::min(space_max, text.size()) && is_space(text[space])) ++space;
  text.remove_prefix(space);
  if (space == 0 || text.size() < 2 || units.find(text[0]) == std::string_view::npos) return 0;
  if (text.substr(1).starts_with("iB")) return space;
  return text[1] == 'B' && (text.size() == 2 || !is_name(text[2]) || text[2] == '.') ? space : 0;
}

}  // namespace

void WordCursor::skip_space() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

bool WordCursor::take(std::string_view words) {
  std::size_t at = at_;
  while (at < text_.size() && is_space(text_[at])) ++at;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] != ' ') {
      if (i > 0) at = after_break(text_, at);
      if (at >= text_.size() || text_[at] != words[i]) return false;
      ++at;
      continue;
    }
    const std::size_t before = at;
    while (at < text_.size() && is_space(text_[at])) ++at;
    const bool is_before_colon = i + 1 < words.size() && words[i + 1] == ':';
    if (at == before && !is_before_colon) return false;
  }
  at_ = at;
  return true;
}

MaybeBytes WordCursor::take_size() {
  const std::size_t before = at_;
  skip_space();
  const Decimal decimal = decimal_at(text_, at_);
  const std::string_view number = decimal.digits;
  double value = 0;
  const auto parsed = std::from_chars(number.data(), number.data() + number.size(), value, std::chars_format::fixed);
  if (parsed.ec != std::errc()) {
    at_ = before;
    return std::nullopt;
  }
  at_ = decimal.end;
  const std::size_t point = number.find('.');
  double last_digit =
      point == std::string_view::npos ? 1 : std::pow(10.0, -static_cast<double>(number.size() - point - 1));
  double unit = 1;
  const auto broken = broken_unit_at(text_, at_);
  if (!broken) at_ += space_before_unit(text_.substr(at_));
  if (broken) {
    unit = std::pow(1024.0, static_cast<double>(broken->power));
    at_ = broken->end;
  } else if (text_.substr(at_).starts_with(" bytes")) {
    at_ += 6;
  } else if (at_ < text_.size()) {
    const bool is_kilobytes = text_.substr(at_).starts_with("kB");
    const std::size_t power = units.find(is_kilobytes ? 'K' : text_[at_]);
    const char next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    const bool is_exponent = text_[at_] == 'E' && (is_digit(next) || next == '+' || next == '-');
    if (power != std::string_view::npos && !is_exponent) {
      unit = std::pow(1024.0, static_cast<double>(power + 1));
      ++at_;
      if (text_.substr(at_).starts_with("iB"))
        at_ += 2;
      else if (text_.substr(at_).starts_with("B"))
        ++at_;
    } else if (text_[at_] == 'B') {
      ++at_;
    }
  }
  constexpr double most = 9e18;
  constexpr std::uint64_t most_printed = std::uint64_t{1} << 62;
  if (value * unit > most) return PrintedBytes{most_printed, most_printed};  // No memory has so much.
  if (unit == 1 && point == std::string_view::npos) last_digit = 0;          // Bytes are exact.
  return PrintedBytes{static_cast<std::uint64_t>(std::llround(value * unit)),
                      static_cast<std::uint64_t>(std::ceil(last_digit * unit / 2))};
}

std::optional<std::uint64_t> WordCursor::take_number() {
  skip_space();
  const bool is_hexadecimal = text_.substr(at_).starts_with("0x");
  const char* begin = text_.data() + at_ + (is_hexadecimal ? 2 : 0);
  std::uint64_t value = 0;
  const auto parsed = std::from_chars(begin, text_.data() + text_.size(), value, is_hexadecimal ? 16 : 10);
  if (parsed.ec != std::errc()) return std::nullopt;
  at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
  return value;
}

std::optional<std::uint64_t> WordCursor::take_grouped_number() {
  skip_space();
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  for (; at_ < text_.size() && (is_digit(text_[at_]) || (text_[at_] == ',' && at_ > begin)); ++at_) {
    if (text_[at_] == ',') continue;
    if (value > (~std::uint64_t{0} - 9) / 10) {
      at_ = begin;
      return std::nullopt;
    }
    value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
  }
  if (at_ == begin) return std::nullopt;
  while (text_[at_ - 1] == ',') --at_;  // The comma of the sentence.
  return value;
}

std::string WordCursor::take_name() {
  skip_space();
  const std::size_t begin = at_;
  while (at_ < text_.size() && is_name(text_[at_])) ++at_;
  std::string name(text_.substr(begin, at_ - begin));
  while (name.ends_with('.')) name.pop_back();  // The full stop of the sentence.
  return name;
}

std::optional<std::string> WordCursor::take_until(std::string_view end, std::size_t bytes_max) {
  const std::size_t found = text_.substr(at_, bytes_max + end.size()).find(end);
  if (found == std::string_view::npos) return std::nullopt;
  std::string before(text_.substr(at_, found));
  at_ += found + end.size();
  return before;
}

std::size_t find_words(std::string_view text, std::string_view words, std::size_t at) {
  const std::string_view first = words.substr(0, words.find(' '));
  for (; (at = text.find(first, at)) != std::string_view::npos; ++at) {
    WordCursor cursor(text, at);
    if (cursor.take(words)) return at;
  }
  return std::string_view::npos;
}

std::string in_one_line(std::string_view text, std::size_t bytes_max) {
  std::string line;
  for (const char c : text) {
    if (line.size() >= bytes_max) break;
    if (!is_space(c))
      line += c;
    else if (!line.empty() && line.back() != ' ')
      line += ' ';
  }
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace hbmscope
