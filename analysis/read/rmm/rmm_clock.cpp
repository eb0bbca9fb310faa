#include "analysis/read/rmm/rmm_clock.h"
#include "analysis/units/ascii.h"

namespace hbmscope::rmm {
namespace {

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

}  // namespace

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

}  // namespace hbmscope::rmm
