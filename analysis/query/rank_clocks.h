// How well the times of several streams can be compared. Each has times of its own clock; readings of a shared one
// (trace/clock_table.h) relate them. Between two readings the clocks may move apart: if one gained 12 us on the other
// from one reading to the next, a time between them is known to 12 us.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "analysis/trace/trace.h"

namespace hbmscope {

struct RankClocks {
  std::size_t streams = 0;
  std::size_t related = 0;      // Whose clock is related to that of the first one, which counts too.
  bool is_time_of_day = false;  // The shared clock of these; else the processors' counter, which one machine shares.
  // The most that a clock gained or lost on the time of day from one reading to the next. Of streams on one machine
  // also by how much its two shared clocks disagree. Absent if there are too few readings to know.
  std::optional<std::uint64_t> uncertainty_ns;
  std::optional<std::size_t> machines;  // By the fact "host". Absent if some stream doesn't have it.
};
// Relates the streams with these numbers.
RankClocks find_rank_clocks(const Trace& trace, std::span<const std::size_t> streams);

// "Times of the 8 ranks are compared by the time of day: they agree within 12 us. ..."; empty for a single stream.
std::string sentence_of(const RankClocks& clocks);

}  // namespace hbmscope
