// A stream's own clock beside two that others share (clock records): the time of day, and the processor's time stamp
// counter. Between two readings both go evenly; before the first and after the last, the time of day goes as the
// stream's own clock does.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/clock_line.h"

namespace hbmscope {

struct ClockReading {
  std::int64_t time_ns = 0;       // The stream's own clock, which its events use.
  std::uint64_t realtime_ns = 0;  // Since 1970; 0: unknown.
  std::uint64_t tsc = 0;          // 0: unknown.
};

class ClockTable {
 public:
  void add(const ClockReading& reading);

  // As they came; of more than a week's at most every second one.
  const std::vector<ClockReading>& readings() const { return readings_; }
  std::optional<std::int64_t> realtime_of(std::int64_t time_ns) const;  // Since 1970; nothing if it was never reported.

  // The same instant on another stream's clock: by the time of day if both report it, else by the counter if both
  // have two readings of it, else nothing.
  std::optional<std::int64_t> time_on(const ClockTable& other, std::int64_t time_ns) const;

 private:
  std::vector<ClockReading> readings_;
};

// Times of one stream on another's clock, for who asks for many: time_on() with what it looks up kept.
class ClockBridge {
 public:
  // Nothing where the two have no clock in common.
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
