#include "analysis/trace/timeline.h"

#include <limits>

namespace hbmscope {
namespace {

constexpr float above_all_ratios = 2;

}  // namespace

void TimelineBucket::add(const TimelineBucket& later) {
  if (later.most.in_use > most.in_use) most_position = later.most_position;
  const auto widen = [](auto& low, auto& high, auto later_low, auto later_high) {
    low = std::min(low, later_low);
    high = std::max(high, later_high);
  };
  widen(least.in_use, most.in_use, later.least.in_use, later.most.in_use);
  widen(least.requested, most.requested, later.least.requested, later.most.requested);
  widen(least.pool, most.pool, later.least.pool, later.most.pool);
  widen(least.largest_free, most.largest_free, later.least.largest_free, later.most.largest_free);
  widen(least.external_fragmentation, most.external_fragmentation, later.least.external_fragmentation,
        later.most.external_fragmentation);
  last = later.last;
  last_position = later.last_position;
  last_time_ns = later.last_time_ns;
  changes += later.changes;
  knows_requested &= later.knows_requested;
  knows_regions &= later.knows_regions;
  is_inexact |= later.is_inexact;
}

void Timeline::begin_bucket(std::uint64_t position, std::int64_t time_ns, const TimelineFigures& now) {
  if (empty()) begin_ns_ = time_ns;
  open_ = {};
  open_.first_position = open_.most_position = position;
  open_.first_time_ns = time_ns;
  const bool is_narrow = position > narrow_from;
  open_until_ = is_narrow ? position + position / parts : narrow_from;
  open_until_ns_ = !is_narrow            ? std::numeric_limits<std::int64_t>::max()
                   : time_ns > begin_ns_ ? time_ns + (time_ns - begin_ns_) / parts
                                         : time_ns;
  open_.least = open_.most = now;
  open_.least.external_fragmentation = above_all_ratios;
}

void Timeline::close_bucket() {
  changes_ += open_.changes;
  push(0, open_);
  open_.changes = 0;
}

void Timeline::push(std::size_t level, const TimelineBucket& bucket) {
  if (level == levels_.size()) levels_.emplace_back();
  SharedLog<TimelineBucket, 8>& buckets = levels_[level];
  buckets.push_back(bucket);
  if (buckets.size() % fan != 0) return;
  TimelineBucket sum = buckets[buckets.size() - fan];
  for (std::size_t at = buckets.size() - fan + 1; at < buckets.size(); ++at) sum.add(buckets[at]);
  push(level + 1, sum);
}

std::vector<TimelineBucket> Timeline::buckets(std::uint64_t begin, std::uint64_t end, std::size_t wanted) const {
  const auto is_before = [](std::uint64_t position, const TimelineBucket& bucket) {
    return position < bucket.first_position;
  };
  const auto first_of = [&](const SharedLog<TimelineBucket, 8>& buckets) {
    const auto above = std::upper_bound(buckets.begin(), buckets.end(), begin, is_before);
    return static_cast<std::size_t>(above - buckets.begin()) - (above == buckets.begin() ? 0 : 1);
  };
  // The coarsest level with as many buckets as wanted.
  std::size_t level = levels_.empty() ? 0 : levels_.size() - 1;
  for (; level > 0; --level) {
    const auto after = std::upper_bound(levels_[level].begin(), levels_[level].end(), end, is_before);
    if (static_cast<std::size_t>(after - levels_[level].begin()) >= first_of(levels_[level]) + wanted) break;
  }
  std::vector<TimelineBucket> result;
  const auto take = [&](const TimelineBucket& bucket) {
    if (bucket.first_position > end) return;
    // Keep only the last of the buckets that begin before `begin`.
    if (!result.empty() && bucket.first_position <= begin) result.clear();
    result.push_back(bucket);
  };
  // After the last bucket of a level come the finer ones that do not fill a bucket of it yet.
  for (std::size_t finer = level + 1, done = 0; finer-- > 0 && finer < levels_.size();) {
    const SharedLog<TimelineBucket, 8>& buckets = levels_[finer];
    for (std::size_t at = std::max(done, first_of(buckets)); at < buckets.size(); ++at) {
      if (buckets[at].first_position > end) break;
      take(buckets[at]);
    }
    done = buckets.size() * fan;
  }
  if (open_.changes > 0) take(open_);
  return result;
}

std::uint64_t Timeline::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(TimelineBucket);
  return bytes;
}

}  // namespace hbmscope
