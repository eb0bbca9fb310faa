#include "allocator/emulated/tpu/interval_picker.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {
namespace {

// In a long program not every operation is tried. The original has a similar limit.
constexpr std::size_t starts_most = 200;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// The first value in [low, high) for which holds() is true, where holds() stays true once it is; `high` if there is
// none.
template <class Holds>
std::int64_t first_that(std::int64_t low, std::int64_t high, const Holds& holds) {
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

}  // namespace

CopyIntervals::CopyIntervals(const AssignmentProblem& problem, std::span<const std::uint64_t> elapsed_before)
    : options_(problem.options), elapsed_before_(elapsed_before) {
  longest_ns_ = copy_ns(problem.capacity_bytes, problem.bytes_per_second) * options_.residency_percent / 100;
}

std::uint64_t CopyIntervals::elapsed_between(std::int64_t after, std::int64_t before) const {
  if (before <= after + 1) return 0;
  return elapsed_before_[static_cast<std::size_t>(before)] - elapsed_before_[static_cast<std::size_t>(after + 1)];
}

bool CopyIntervals::may_stay(std::int64_t from, std::int64_t use) const {
  if (options_.picker == IntervalPicker::operation_count) return use - from - 1 <= options_.max_overlap;
  return elapsed_between(from, use) < longest_ns_;
}

std::int64_t CopyIntervals::preferred_eviction_end(std::uint64_t copy_ns, std::int64_t from, std::int64_t latest,
                                                   std::uint32_t retry) const {
  const std::uint64_t times = 1 + 2 * std::uint64_t{retry};  // As in the original.
  if (options_.picker == IntervalPicker::operation_count)
    return std::min<std::int64_t>(from + 1 + static_cast<std::int64_t>(options_.min_overlap * times), latest);
  const std::uint64_t preferred = times * copy_ns * options_.preferred_overlap_percent / 100;
  return first_that(from + 1, latest, [&](std::int64_t end) { return elapsed_between(from, end) >= preferred; });
}

std::vector<std::int64_t> CopyIntervals::prefetch_starts(std::uint64_t copy_ns, std::uint64_t saved_ns,
                                                         std::int64_t earliest, std::int64_t use) const {
  std::vector<std::int64_t> starts;
  if (options_.picker == IntervalPicker::operation_count) {
    const std::int64_t first = std::max(earliest, use - 1 - std::int64_t{options_.max_overlap});
    for (std::int64_t start = first; start <= use - 1 - std::int64_t{options_.min_overlap}; ++start) {
      if (starts.size() == starts_most) break;
      starts.push_back(start);
    }
    return starts;
  }
  const std::uint64_t least = copy_ns * options_.min_overlap_percent / 100;
  const std::uint64_t preferred = copy_ns * options_.preferred_overlap_percent / 100;
  const auto overlap = [&](std::int64_t start) { return elapsed_between(start, use); };
  const std::int64_t latest =
      first_that(earliest, use, [&](std::int64_t start) { return overlap(start) + saved_ns < least; }) - 1;
  if (latest < earliest) return starts;
  const std::int64_t first =
      first_that(earliest, latest, [&](std::int64_t start) { return overlap(start) <= longest_ns_; });
  // The start nearest to the preferred overlap; of equals, the earliest.
  std::int64_t nearest = first_that(first, latest, [&](std::int64_t start) { return overlap(start) <= preferred; });
  if (nearest > first && distance(overlap(nearest - 1), preferred) <= distance(overlap(nearest), preferred)) --nearest;
  nearest = first_that(first, nearest, [&](std::int64_t start) { return overlap(start) == overlap(nearest); });
  starts.push_back(nearest);
  for (std::int64_t step = 1; starts.size() < starts_most; ++step) {
    if (nearest + step > latest && nearest - step < first) break;
    if (nearest + step <= latest) starts.push_back(nearest + step);
    if (nearest - step >= first) starts.push_back(nearest - step);
  }
  return starts;
}

}  // namespace hbmscope::allocator::tpu
