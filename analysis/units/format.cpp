#include "analysis/units/format.h"

#include <array>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

namespace hbmscope {
namespace {

constexpr std::array<const char*, 7> binary_units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

std::uint64_t magnitude_of(std::int64_t value) {
  return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

// Three significant digits, never an exponent. The caller handles "1000", which becomes the next unit.
std::string three_digits(double value, int digits = 3) {
  int before_point = value < 10 ? 1 : value < 100 ? 2 : value < 1000 ? 3 : 4;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, digits - before_point));
  // Rounding can add a digit: 9.996 prints as 10.00, 99.96 as 100.0. Use one decimal fewer then.
  const std::size_t printed = std::min(text.find('.'), text.size());
  if (printed > static_cast<std::size_t>(before_point))
    text = fmt::format("{:.{}f}", value, std::max(0, digits - static_cast<int>(printed)));
  return text;
}

std::string bytes_text(std::uint64_t bytes, int digits) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // 1023.6 KiB would print as "1024 KiB": values that round to 1024 use the next unit.
  while (unit + 1 < binary_units.size() && value >= 1023.5) {
    value /= 1024;
    ++unit;
  }
  return three_digits(value, digits) + " " + binary_units[unit];
}

struct DecimalUnit {
  double factor;
  const char* name;
};
constexpr std::array<DecimalUnit, 4> time_units = {{{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {1e9, "s"}}};

std::string nanoseconds_text(std::uint64_t ns) {
  if (ns < 1000) return fmt::format("{} ns", ns);
  std::size_t unit = 0;
  const double value = static_cast<double>(ns);
  while (unit + 1 < time_units.size() && value / time_units[unit].factor >= 999.5) ++unit;
  if (unit + 1 == time_units.size()) return fmt::format("{:.3f} s", value / 1e9);
  return three_digits(value / time_units[unit].factor) + " " + time_units[unit].name;
}

std::string grouped(std::uint64_t value) {
  return fmt::format("{}", fmt::group_digits(value));
}

constexpr std::string_view minus_sign = "\u2212";

}  // namespace

std::string text_from_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + bytes_text(magnitude_of(bytes), 3);
}

std::string exact_text_from_bytes(std::int64_t bytes) {
  return (bytes < 0 ? "-" : "") + grouped(magnitude_of(bytes)) + " B";
}

std::string delta_text_from_bytes(std::int64_t bytes) {
  if (bytes == 0) return "0 B";
  return std::string(bytes < 0 ? minus_sign : "+") + bytes_text(magnitude_of(bytes), 3);
}

std::string text_from_count(std::int64_t count) {
  const std::uint64_t magnitude = magnitude_of(count);
  if (magnitude <= 10'000'000) return exact_text_from_count(count);
  double value = static_cast<double>(magnitude);
  const char* suffix = " M";
  value /= 1e6;
  if (value >= 999.5) {
    value /= 1e3;
    suffix = " G";
  }
  return (count < 0 ? "-" : "") + three_digits(value) + suffix;
}

std::string exact_text_from_count(std::int64_t count) {
  return (count < 0 ? "-" : "") + grouped(magnitude_of(count));
}

std::string delta_text_from_count(std::int64_t count) {
  if (count == 0) return "0";
  return std::string(count < 0 ? minus_sign : "+") + grouped(magnitude_of(count));
}

std::string text_from_count_of(std::int64_t count, std::string_view one, std::string_view many) {
  const std::string number = text_from_count(count);
  if (count == 1) return fmt::format("{} {}", number, one);
  return many.empty() ? fmt::format("{} {}s", number, one) : fmt::format("{} {}", number, many);
}

std::string text_from_share(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "–";
  const double share = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", std::abs(share) < 0.05 ? 0.0 : share);  // Never "-0.0 %".
}

std::string text_from_known_bytes(const std::optional<std::uint64_t>& bytes) {
  return bytes ? text_from_bytes(*bytes) : "unknown";
}

std::string text_from_fraction(double share, int digits) {
  return fmt::format("{:.{}f} %", share * 100, digits);
}

std::string text_from_known_share(const std::optional<double>& share) {
  return share ? text_from_fraction(*share) : "–";
}

std::string delta_text_from_share(std::int64_t before, std::int64_t after) {
  if (before == after) return "0.0 %";
  if (before == 0) return "new";
  const double share =
      100.0 * (static_cast<double>(after) - static_cast<double>(before)) / std::abs(static_cast<double>(before));
  return fmt::format("{}{:.1f} %", share < 0 ? minus_sign : "+", std::abs(share));
}

std::string text_from_value(std::int64_t value, std::string_view unit) {
  if (unit == "bytes") return text_from_bytes(value);
  if (unit == "count" || unit.empty()) return text_from_count(value);
  if (unit == "nanoseconds") return (value < 0 ? "-" : "") + nanoseconds_text(magnitude_of(value));
  if (unit == hundredths_of_percent) return text_from_known_share(static_cast<double>(value) / 10'000);
  return fmt::format("{} {}", exact_text_from_count(value), unit);
}

std::string delta_text_from_value(std::int64_t value, std::string_view unit) {
  if (unit == "bytes") return delta_text_from_bytes(value);
  if (unit == "count" || unit.empty()) return delta_text_from_count(value);
  if (unit == hundredths_of_percent) {
    if (magnitude_of(value) < 5) return "0.0 points";  // Below the displayed precision.
    return fmt::format("{}{:.1f} points", value < 0 ? minus_sign : "+", static_cast<double>(magnitude_of(value)) / 100);
  }
  std::string text = text_from_value(value, unit);
  if (value == 0) return text;
  return value < 0 ? std::string(minus_sign) + text.substr(1) : "+" + text;
}

TextPair texts_from_values(std::int64_t first, std::int64_t second, std::string_view unit) {
  if (unit == "bytes") return texts_from_bytes(first, second);
  return {text_from_value(first, unit), text_from_value(second, unit)};
}

TextPair texts_from_bytes(std::int64_t first, std::int64_t second) {
  for (int digits = 3; digits <= 6; ++digits) {
    TextPair pair{(first < 0 ? "-" : "") + bytes_text(magnitude_of(first), digits),
                  (second < 0 ? "-" : "") + bytes_text(magnitude_of(second), digits)};
    if (pair.first != pair.second || first == second) return pair;
  }
  return {exact_text_from_bytes(first), exact_text_from_bytes(second)};
}

std::string text_from_part_of(std::uint64_t part, std::uint64_t whole) {
  const TextPair pair = texts_from_bytes(signed_from(part), signed_from(whole));
  return pair.first + " of " + pair.second;
}

std::string text_from_unix_ns(std::int64_t unix_ns) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm utc{};
  if (gmtime_r(&seconds, &utc) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday,
                     utc.tm_hour, utc.tm_min, utc.tm_sec);
}

std::string text_from_moment_ns(std::int64_t since_start_ns, std::int64_t apart_ns) {
  if (since_start_ns < 0) return "-" + text_from_moment_ns(signed_from(magnitude_of(since_start_ns)), apart_ns);
  const auto digits = [apart_ns](std::int64_t unit_ns, int least) {
    int count = 0;
    for (; unit_ns > std::max<std::int64_t>(1, apart_ns); unit_ns /= 10) ++count;
    return std::max(least, count);
  };
  constexpr std::int64_t us = 1000, ms = 1'000'000, s = 1'000'000'000;
  const double seconds = static_cast<double>(since_start_ns) / 1e9;
  if (since_start_ns < ms) return fmt::format("{:.{}f} µs", seconds * 1e6, digits(us, 0));
  if (seconds < 1) return fmt::format("{:.{}f} ms", seconds * 1e3, digits(ms, 3));
  if (seconds < 60) return fmt::format("{:.{}f} s", seconds, digits(s, 3));
  const auto minutes = static_cast<std::int64_t>(seconds / 60);
  const double rest = seconds - static_cast<double>(minutes) * 60;
  const auto two_digits = [&](int least) {
    return fmt::format("{:0{}.{}f}", rest, 3 + digits(s, least), digits(s, least));
  };
  if (minutes < 60) return fmt::format("{}:{}", minutes, two_digits(3));
  return fmt::format("{}:{:02}:{}", minutes / 60, minutes % 60,
                     apart_ns < ms ? two_digits(1) : fmt::format("{:04.1f}", rest));
}

}  // namespace hbmscope
