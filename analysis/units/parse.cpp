#include <array>
#include <charconv>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "analysis/units/ascii.h"
#include "analysis/units/format.h"

namespace hbmscope {
namespace {

struct Unit {
  std::string_view name;  // Lower case.
  double factor;
};

constexpr double kib = 1024, mib = kib * kib, gib = mib * kib, tib = gib * kib;

// G means GiB, as in the frameworks' own messages; GB is 10^9.
constexpr double pib = tib * kib, eib = pib * kib;

constexpr std::array<Unit, 21> byte_units = {
    {{"", 1},      {"b", 1},    {"bytes", 1}, {"k", kib},   {"kib", kib}, {"kb", 1e3},  {"m", mib},
     {"mib", mib}, {"mb", 1e6}, {"g", gib},   {"gib", gib}, {"gb", 1e9},  {"t", tib},   {"tib", tib},
     {"tb", 1e12}, {"p", pib},  {"pib", pib}, {"pb", 1e15}, {"e", eib},   {"eib", eib}, {"eb", 1e18}}};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Failure bad_size(std::string_view text) {
  return Failure(refusal(fmt::format("'{}' is not a size", text),
                         "Write a number and a unit, such as 512, 1.5GiB, 40G (= GiB) or 2GB (10^9)."));
}

}  // namespace

std::string without_group_commas(std::string_view text) {
  const auto is_digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool groups = text[i] == ',' && i > 0 && is_digit(i - 1) && is_digit(i + 1) && is_digit(i + 2) &&
                        is_digit(i + 3) && !is_digit(i + 4);
    if (!groups) result += text[i];
  }
  return result;
}

std::array<int, 3> release_numbers(std::string_view release) {
  std::array<int, 3> numbers{};
  for (int& number : numbers) {
    const auto [end, error] = std::from_chars(release.data(), release.data() + release.size(), number);
    if (error != std::errc()) break;
    release.remove_prefix(static_cast<std::size_t>(end - release.data()));
    if (release.empty() || release.front() != '.') break;
    release.remove_prefix(1);
  }
  return numbers;
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  const std::string plain = without_group_commas(trim(text));
  std::string_view rest = plain;
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  if (rest.empty() || rest.front() == '-') return bad_size(text);
  if (rest.starts_with("0x") || rest.starts_with("0X")) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest.data() + 2, rest.data() + rest.size(), value, 16);
    if (error != std::errc() || end != rest.data() + rest.size() || value >> 63 != 0) return bad_size(text);
    return is_negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  }
  double number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number)) return bad_size(text);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  const std::string unit = lower(trim(rest));
  for (const Unit& known : byte_units) {
    if (known.name != unit) continue;
    const double bytes = std::round(number * known.factor);
    if (bytes >= 9.2e18) return bad_size(text);
    return static_cast<std::int64_t>(is_negative ? -bytes : bytes);
  }
  return bad_size(text);
}

}  // namespace hbmscope
