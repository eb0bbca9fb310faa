// Converts times of day, which restart at midnight, to nanoseconds since the midnight before the first row (or since
// 1970), so that the logs of a job's processes share a clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hbmscope::rmm {

// "11:04:51.310412" (older RMM parsers expect ':' before the fraction), "1634567890.123456".
struct TimeText {
  std::int64_t ns = 0;  // Since midnight, or since 1970.
  bool is_of_day = false;
};
std::optional<TimeText> find_time(std::string_view text);

class Clock {
 public:
  // The first time of the log; earlier rows without a time get it too.
  void begin_at(const TimeText& time) {
    first_ = time;
    now_ns_ = time.ns;
  }
  // The time of the next row, never before that of the previous row. Threads take their times before they wait for
  // the file, so a small step back says nothing about the order of events, which is the order of the rows.
  std::int64_t time_of_next_row(std::string_view text);

  std::uint64_t unknown_times() const { return unknown_; }  // Those rows use the time of the row above.
  std::uint64_t backward_times() const { return backward_; }
  std::int64_t midnights() const { return days_; }

 private:
  std::optional<TimeText> first_;
  std::int64_t now_ns_ = 0;
  std::int64_t days_ = 0;  // Midnights since the first row.
  std::uint64_t unknown_ = 0, backward_ = 0;
};

}  // namespace hbmscope::rmm
