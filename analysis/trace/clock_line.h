// One clock over another, through instants at which both were read; between two of them both go evenly.
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
  // Two clocks of nanoseconds go alike outside of what was read; a counter goes on as fast as it went.
  enum class Outside : std::uint8_t { one_to_one, as_before };

  // Where a clock stood still or was set back, the first reading of a value counts. Nothing where they are too few:
  // none, or a single one of a counter.
  static std::optional<ClockLine> through(std::vector<Pair> pairs, Outside outside);
  long double at(long double from) const;

 private:
  ClockLine(std::vector<Pair> pairs, Outside outside) : pairs_(std::move(pairs)), outside_(outside) {}

  std::vector<Pair> pairs_;  // Ascending, each `from` once; not empty.
  Outside outside_;
};

}  // namespace hbmscope
