// Bytes, counts, percentages and deltas become text only here, for the window, the commands and the exports. Bytes have
// binary units and three digits ("2.10 GiB", "846 KiB", "512 B"), never GB; counts have commas ("1,203,551"; over ten
// million: "12.4 M"); percentages have one decimal and a space ("37.2 %").
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/model/result.h"

namespace hbmscope {

// Converts to a signed number; clamps at 2^63 - 1.
constexpr std::int64_t signed_from(std::uint64_t number) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(number < most ? number : most);
}

std::string text_from_bytes(std::int64_t bytes);        // "2.10 GiB"; negative: "-2.10 GiB"
std::string exact_text_from_bytes(std::int64_t bytes);  // "2,254,857,830 B"
std::string delta_text_from_bytes(std::int64_t bytes);  // "+2.10 GiB", "−846 KiB" (U+2212), "0 B"
std::string text_from_count(std::int64_t count);        // "1,203,551", "12.4 M"
// For unsigned numbers. Larger ones are shown as 2^63 - 1, which no memory reaches.
template <std::unsigned_integral Number>
std::string text_from_bytes(Number bytes) {
  return text_from_bytes(signed_from(bytes));
}
template <std::unsigned_integral Number>
std::string text_from_count(Number count) {
  return text_from_count(signed_from(count));
}
// A computed size, e.g. an average; rounded to bytes.
template <std::floating_point Number>
std::string text_from_bytes(Number bytes) {
  return text_from_bytes(static_cast<std::int64_t>(std::llround(bytes)));
}
// "1 block", "1,203 blocks"; `many` is for nouns whose plural has no s: "2 entries".
std::string text_from_count_of(std::int64_t count, std::string_view one, std::string_view many = {});
template <std::unsigned_integral Number>
std::string text_from_count_of(Number count, std::string_view one, std::string_view many = {}) {
  return text_from_count_of(signed_from(count), one, many);
}
std::string exact_text_from_count(std::int64_t count);               // "12,400,123"
std::string delta_text_from_count(std::int64_t count);               // "+12", "−3"
std::string text_from_share(std::int64_t part, std::int64_t whole);  // "37.2 %"; "–" if whole is 0
// For figures that may be missing. Unknown bytes are "unknown"; an undefined share (nothing is free) is "–".
std::string text_from_known_bytes(const std::optional<std::uint64_t>& bytes);
std::string text_from_known_share(const std::optional<double>& share);       // 0.372: "37.2 %"
std::string text_from_fraction(double share, int digits = 1);                // 0.372: "37.2 %"; digits after the point
std::string delta_text_from_share(std::int64_t before, std::int64_t after);  // growth: "+5.1 %", "new"

// A share as an integer: 3720 is "37.2 %", and as a change "+37.2 points".
inline constexpr std::string_view hundredths_of_percent = "hundredths_of_percent";

// A value in the unit that the profile names ("bytes", "count", "nanoseconds", ...), or in hundredths_of_percent.
std::string text_from_value(std::int64_t value, std::string_view unit);
std::string delta_text_from_value(std::int64_t value, std::string_view unit);  // "+1.20 ms", "−3"

// Two sizes in one sentence get as many digits as it takes to tell them apart: {"2.10 GiB", "2.11 GiB"}, {"3.000 GiB",
// "3.001 GiB"}.
struct TextPair {
  std::string first, second;
};
TextPair texts_from_bytes(std::int64_t first, std::int64_t second);
std::string text_from_part_of(std::uint64_t part, std::uint64_t whole);  // "11.027 GiB of 11.031 GiB"
TextPair texts_from_values(std::int64_t first, std::int64_t second, std::string_view unit);

// "1GiB", "1 G" (= GiB), "1.5MB" (10^6), "512", "0x200", "-1GiB", "2,254,857,830 B". Rounded to whole bytes.
Result<std::int64_t> parse_bytes(std::string_view text);
// A release as three numbers, "0.10.2" or "0.12.0.1"; what is missing or no number is 0.
std::array<int, 3> release_numbers(std::string_view release);

// "1,203,551" -> "1203551" if the commas group thousands. "1,5" stays unchanged, and is not a number.
std::string without_group_commas(std::string_view text);

// UTC: "2026-11-21 14:03:22".
std::string text_from_unix_ns(std::int64_t unix_ns);

// Since a start, in all views and commands: "340 µs", "490.999 ms", "1.883 s", "3:25.123", "1:03:25.1".
// With more digits where times that far apart must differ: "1.8831377 s" at 100 ns.
std::string text_from_moment_ns(std::int64_t since_start_ns, std::int64_t apart_ns = 1'000'000);

}  // namespace hbmscope
