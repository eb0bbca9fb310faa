// Nanoseconds since the midnight before the first row from times of day, which begin anew at midnight, or since 1970:
// so that the logs of a job's processes have one clock in common.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hbmscope::rmm {

// "11:04:51.310412" (older readers of RMM expect ':' before the fraction), "1634567890.123456".
struct TimeText {
  std::int64_t ns = 0;  // Since midnight, or since 1970.
  bool is_of_day = false;
};
std::optional<TimeText> find_time(std::string_view text);

class Clock {
 public:
  // The first time of the log: rows above it without one have it too.
  void begin_at(const TimeText& time) {
    first_ = time;
    now_ns_ = time.ns;
  }
  // The time of the next row, which is never before that of the row above: threads take their times before they wait
  // for the file, and a microsecond backwards says nothing of the order of events, which is that of the rows.
  std::int64_t time_of_next_row(std::string_view text);

  std::uint64_t unknown_times() const { return unknown_; }  // Those rows have the time of the row above.
  std::uint64_t backward_times() const { return backward_; }
  std::int64_t midnights() const { return days_; }

 private:
  std::optional<TimeText> first_;
  std::int64_t now_ns_ = 0;
  std::int64_t days_ = 0;  // Midnights since the first row.
  std::uint64_t unknown_ = 0, backward_ = 0;
};

}  // namespace hbmscope::rmm
