#include "analysis/trace/clock_line.h"

#include <algorithm>
#include <iterator>

namespace hbmscope {

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

}  // namespace hbmscope
