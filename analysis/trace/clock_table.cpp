#include "analysis/trace/clock_table.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace hbmscope {
namespace {

// One week's; for longer streams every second reading is enough.
constexpr std::size_t readings_max = 65'536;

std::int64_t clamp_ns(long double value) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min(), most = std::numeric_limits<std::int64_t>::max();
  if (value <= static_cast<long double>(least)) return least;
  if (value >= static_cast<long double>(most)) return most;
  return static_cast<std::int64_t>(value < 0 ? value - 0.5L : value + 0.5L);
}

constexpr std::uint64_t ClockReading::*realtime = &ClockReading::realtime_ns;
constexpr std::uint64_t ClockReading::*counter = &ClockReading::tsc;
using Outside = ClockLine::Outside;

std::optional<ClockLine> line_to_shared(const std::vector<ClockReading>& readings, std::uint64_t ClockReading::*clock,
                                        Outside outside) {
  std::vector<ClockLine::Pair> pairs;
  for (const ClockReading& reading : readings)
    if (reading.*clock != 0)
      pairs.push_back({static_cast<long double>(reading.time_ns), static_cast<long double>(reading.*clock)});
  return ClockLine::through(std::move(pairs), outside);
}

std::optional<ClockLine> line_from_shared(const std::vector<ClockReading>& readings, std::uint64_t ClockReading::*clock,
                                          Outside outside) {
  std::vector<ClockLine::Pair> pairs;
  for (const ClockReading& reading : readings)
    if (reading.*clock != 0)
      pairs.push_back({static_cast<long double>(reading.*clock), static_cast<long double>(reading.time_ns)});
  return ClockLine::through(std::move(pairs), outside);
}

}  // namespace

std::optional<ClockLine> ClockLine::through(std::vector<Pair> pairs, Outside outside) {
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.from < b.from; });
  pairs.erase(std::unique(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.from == b.from; }),
              pairs.end());
  if (pairs.empty() || (pairs.size() == 1 && outside == Outside::as_before)) return std::nullopt;
  return ClockLine(std::move(pairs), outside);
}

long double ClockLine::at(long double from) const {
  auto after = std::upper_bound(pairs_.begin(), pairs_.end(), from,
                                [](long double wanted, const Pair& pair) { return wanted < pair.from; });
  if (outside_ == Outside::one_to_one) {
    if (after == pairs_.begin()) return pairs_.front().to + (from - pairs_.front().from);
    if (after == pairs_.end()) return pairs_.back().to + (from - pairs_.back().from);
  }
  if (after == pairs_.begin()) ++after;
  if (after == pairs_.end()) --after;
  const Pair &a = *std::prev(after), &b = *after;
  return a.to + (from - a.from) * (b.to - a.to) / (b.from - a.from);
}

void ClockTable::add(const ClockReading& reading) {
  readings_.push_back(reading);
  if (readings_.size() <= readings_max) return;
  for (std::size_t i = 1; 2 * i < readings_.size(); ++i) readings_[i] = readings_[2 * i];
  readings_.resize((readings_.size() + 1) / 2);
}

std::optional<std::int64_t> ClockTable::realtime_of(std::int64_t time_ns) const {
  const auto line = line_to_shared(readings_, realtime, Outside::one_to_one);
  return line ? std::optional(clamp_ns(line->at(static_cast<long double>(time_ns)))) : std::nullopt;
}

std::optional<std::int64_t> ClockTable::time_on(const ClockTable& other, std::int64_t time_ns) const {
  const auto bridge = ClockBridge::find(*this, other);
  return bridge ? std::optional(bridge->time_on_other(time_ns)) : std::nullopt;
}

std::optional<ClockBridge> ClockBridge::find(const ClockTable& from, const ClockTable& to) {
  for (const auto& [clock, outside] :
       {std::pair{realtime, Outside::one_to_one}, std::pair{counter, Outside::as_before}}) {
    auto there = line_to_shared(from.readings(), clock, outside);
    if (!there) continue;
    if (auto back = line_from_shared(to.readings(), clock, outside))
      return ClockBridge(std::move(*there), std::move(*back));
  }
  return std::nullopt;
}

std::int64_t ClockBridge::time_on_other(std::int64_t time_ns) const {
  return clamp_ns(from_shared_.at(to_shared_.at(static_cast<long double>(time_ns))));
}

std::string text_from_realtime(std::int64_t realtime_ns) {
  const std::int64_t us = realtime_ns / 1000 - (realtime_ns % 1000 < 0 ? 1 : 0);
  const std::int64_t second = us / 1'000'000 - (us % 1'000'000 < 0 ? 1 : 0);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} UTC", fmt::gmtime(static_cast<std::time_t>(second)),
                     us - second * 1'000'000);
}

}  // namespace hbmscope
