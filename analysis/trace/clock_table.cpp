#include "analysis/trace/clock_table.h"

#include <algorithm>
#include <limits>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace hbmscope {
namespace {

// A week's; of longer ones every second reading is enough.
constexpr std::size_t readings_max = 65'536;

struct Pair {
  long double from = 0, to = 0;
};

std::int64_t clamp_ns(long double value) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  if (value <= static_cast<long double>(least)) return least;
  if (value >= static_cast<long double>(most)) return most;
  return static_cast<std::int64_t>(value < 0 ? value - 0.5L : value + 0.5L);
}

// Two clocks of nanoseconds go alike outside of what was read; a counter goes on as fast as it went.
enum class Outside : std::uint8_t { one_to_one, as_before };

// Where a clock stood still or was set back, the first reading of a value counts.
std::optional<long double> interpolate(std::vector<Pair> pairs, Outside outside, long double from) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.from < b.from; });
  pairs.erase(std::unique(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.from == b.from; }),
              pairs.end());
  if (pairs.empty() || (pairs.size() == 1 && outside == Outside::as_before)) return std::nullopt;
  auto after = std::upper_bound(pairs.begin(), pairs.end(), from,
                                [](long double wanted, const Pair& pair) { return wanted < pair.from; });
  if (outside == Outside::one_to_one) {
    if (after == pairs.begin()) return pairs.front().to + (from - pairs.front().from);
    if (after == pairs.end()) return pairs.back().to + (from - pairs.back().from);
  }
  if (after == pairs.begin()) ++after;
  if (after == pairs.end()) --after;
  const Pair &a = *std::prev(after), &b = *after;
  return a.to + (from - a.from) * (b.to - a.to) / (b.from - a.from);
}

constexpr std::uint64_t ClockReading::*realtime = &ClockReading::realtime_ns;
constexpr std::uint64_t ClockReading::*counter = &ClockReading::tsc;

std::optional<long double> shared_of(const std::vector<ClockReading>& readings, std::uint64_t ClockReading::*clock,
                                     Outside outside, std::int64_t time_ns) {
  std::vector<Pair> pairs;
  for (const ClockReading& reading : readings)
    if (reading.*clock != 0)
      pairs.push_back({static_cast<long double>(reading.time_ns), static_cast<long double>(reading.*clock)});
  return interpolate(std::move(pairs), outside, static_cast<long double>(time_ns));
}

std::optional<long double> time_of(const std::vector<ClockReading>& readings, std::uint64_t ClockReading::*clock,
                                   Outside outside, long double shared) {
  std::vector<Pair> pairs;
  for (const ClockReading& reading : readings)
    if (reading.*clock != 0)
      pairs.push_back({static_cast<long double>(reading.*clock), static_cast<long double>(reading.time_ns)});
  return interpolate(std::move(pairs), outside, shared);
}

}  // namespace

void ClockTable::add(const ClockReading& reading) {
  readings_.push_back(reading);
  if (readings_.size() <= readings_max) return;
  for (std::size_t i = 1; 2 * i < readings_.size(); ++i) readings_[i] = readings_[2 * i];
  readings_.resize((readings_.size() + 1) / 2);
}

std::optional<std::int64_t> ClockTable::realtime_of(std::int64_t time_ns) const {
  const auto found = shared_of(readings_, realtime, Outside::one_to_one, time_ns);
  return found ? std::optional(clamp_ns(*found)) : std::nullopt;
}

std::optional<std::int64_t> ClockTable::time_on(const ClockTable& other, std::int64_t time_ns) const {
  for (const auto& [clock, outside] :
       {std::pair{realtime, Outside::one_to_one}, std::pair{counter, Outside::as_before}}) {
    const auto shared = shared_of(readings_, clock, outside, time_ns);
    if (!shared) continue;
    if (const auto found = time_of(other.readings_, clock, outside, *shared)) return clamp_ns(*found);
  }
  return std::nullopt;
}

std::string text_from_realtime(std::int64_t realtime_ns) {
  const std::int64_t us = realtime_ns / 1000 - (realtime_ns % 1000 < 0 ? 1 : 0);
  const std::int64_t second = us / 1'000'000 - (us % 1'000'000 < 0 ? 1 : 0);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} UTC", fmt::gmtime(static_cast<std::time_t>(second)),
                     us - second * 1'000'000);
}

}  // namespace hbmscope
