// Maps one clock to another through instants at which both were read. Linear between two such readings.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace hbmscope {

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

}  // namespace hbmscope
