// Relates a stream's own clock to two shared ones (clock records): the time of day, and the processor's time stamp
// counter. Linear between two readings. Before the first and after the last reading, the time of day runs at the rate
// of the stream's own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hbmscope {

// Maps one clock to another through instants at which both were read. Linear between two such readings.
class ClockLine {
 public:
  struct Pair {
    long double from = 0, to = 0;
  };
  // Outside of the readings: two nanosecond clocks run at the same rate; a counter keeps its last rate.
  enum class Outside : std::uint8_t { one_to_one, as_before };

  // Where a clock stood still or was set back, the first reading of each value is used. Returns nothing without
  // readings, or with only one reading of a counter.
  static std::optional<ClockLine> through(std::vector<Pair> pairs, Outside outside);
  long double at(long double from) const;

 private:
  ClockLine(std::vector<Pair> pairs, Outside outside) : pairs_(std::move(pairs)), outside_(outside) {}

  std::vector<Pair> pairs_;  // Ascending, each `from` once; not empty.
  Outside outside_;
};

struct ClockReading {
  std::int64_t time_ns = 0;       // The stream's own clock, which its events use.
  std::uint64_t realtime_ns = 0;  // Since 1970, or 0 if it is unknown.
  std::uint64_t tsc = 0;          // 0: unknown.
};

class ClockTable {
 public:
  void add(const ClockReading& reading);

  // In order of arrival; beyond a week of readings, at most every second one.
  const std::vector<ClockReading>& readings() const { return readings_; }
  std::optional<std::int64_t> realtime_of(std::int64_t time_ns) const;  // Since 1970, if known.

  // The same instant on another stream's clock: through the time of day if both report it, else through the counter if
  // both have two readings of it, else nothing.
  std::optional<std::int64_t> time_on(const ClockTable& other, std::int64_t time_ns) const;

 private:
  std::vector<ClockReading> readings_;
};

// Maps many times of one stream to another's clock: time_on() with its lookups cached.
class ClockBridge {
 public:
  // Nothing if the two have no clock in common.
  static std::optional<ClockBridge> find(const ClockTable& from, const ClockTable& to);
  std::int64_t time_on_other(std::int64_t time_ns) const;

 private:
  ClockBridge(ClockLine to_shared, ClockLine from_shared)
      : to_shared_(std::move(to_shared)), from_shared_(std::move(from_shared)) {}

  ClockLine to_shared_, from_shared_;
};

// "2026-11-21 13:20:11.123456 UTC"
std::string text_from_realtime(std::int64_t realtime_ns);

}  // namespace hbmscope
