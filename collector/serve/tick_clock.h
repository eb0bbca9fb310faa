// Converts a job's ticks to nanoseconds of the monotonic clock. No interface reports the exact rate of the time stamp
// counter, so both clocks are read in every round, and a tick between two readings is interpolated. A tick older than
// all readings is extrapolated from the first two.
#pragma once

#include <cstdint>

namespace hbmscope::serve {

class TickClock {
 public:
  struct Reading {
    std::uint64_t ticks = 0;
    std::int64_t ns = 0;  // CLOCK_MONOTONIC.
  };

  explicit TickClock(bool ticks_are_ns);
  // Both clocks now, as close together as possible.
  Reading read() const;
  // Adds a reading, which must be later than all before.
  void note(const Reading& now);
  std::int64_t ns_from_ticks(std::uint64_t ticks) const;
  std::uint64_t ticks_from_ns(std::int64_t ns) const;  // For times near the readings.

 private:
  bool ticks_are_ns_;
  Reading before_, last_;
};

}  // namespace hbmscope::serve
