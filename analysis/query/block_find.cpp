#include "analysis/query/block_find.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

std::string where_from_find(std::string_view find) {
  constexpr std::size_t digits_of_an_address = 8;
  const std::string_view text = trimmed(find);
  const auto all_are = [&](const auto& is, std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), is);
  };
  const auto is_hex = [](char character) { return std::isxdigit(static_cast<unsigned char>(character)) != 0; };
  if ((text.starts_with("0x") || text.starts_with("0X")) && all_are(is_hex, text.substr(2)))
    return fmt::format("address={}", text);
  if (text.size() >= digits_of_an_address && all_are(is_hex, text)) {
    if (all_are(is_digit, text)) return fmt::format("(address=0x{} or address={})", text, text);
    if (std::any_of(text.begin(), text.end(), is_digit)) return fmt::format("address=0x{}", text);
  }
  if (text.starts_with('+'))
    if (const auto bytes = parse_bytes(text.substr(1))) return fmt::format("offset={}", *bytes);
  if (!text.empty() && is_digit(text.front()) && !is_digit(text.back()))
    if (const auto bytes = parse_bytes(text); bytes && *bytes > 0) {
      // Rounding to three digits changes a size by at most half a percent.
      const auto slack = std::max<std::int64_t>(*bytes / 200, 0);
      return fmt::format("(size>={} size<={})", *bytes - slack, *bytes + slack);
    }
  return std::string(text);
}

std::string where_of_both(std::string_view first, std::string_view second) {
  if (trimmed(first).empty()) return std::string(trimmed(second));
  if (trimmed(second).empty()) return std::string(trimmed(first));
  return fmt::format("({}) ({})", trimmed(first), trimmed(second));
}

}  // namespace hbmscope
