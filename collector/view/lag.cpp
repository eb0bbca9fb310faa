#include "collector/view/lag.h"

#include <algorithm>
#include <limits>

namespace hbmscope::view {
namespace {

constexpr std::size_t waiting_max = 10'000;  // A few arrive each second.

// A peer may report any time.
std::int64_t between(std::int64_t earlier_ns, std::int64_t later_ns) {
  if (earlier_ns >= later_ns) return 0;
  const std::uint64_t ns = static_cast<std::uint64_t>(later_ns) - static_cast<std::uint64_t>(earlier_ns);
  return static_cast<std::int64_t>(std::min<std::uint64_t>(ns, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace

void Lag::note(const link::Status& status, std::uint64_t place, std::int64_t last_time_ns) {
  if (is_first_) first_bytes_ = status.blocks_bytes;
  is_first_ = false;
  if (status.blocks_bytes > place && waiting_.size() < waiting_max &&
      (waiting_.empty() || status.blocks_bytes > waiting_.back().blocks_bytes))
    waiting_.push_back({status.blocks_bytes, status.now_ns});
  while (!waiting_.empty() && waiting_.front().blocks_bytes <= place) waiting_.pop_front();
  if (waiting_.empty())
    behind_ns_ = 0;
  else if (place >= first_bytes_)
    behind_ns_ = between(waiting_.front().now_ns, status.now_ns);
  else
    behind_ns_ = last_time_ns == 0 ? 0 : between(last_time_ns, status.now_ns);
}

}  // namespace hbmscope::view
