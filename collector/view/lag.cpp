#include "collector/view/lag.h"

#include <algorithm>

namespace hbmscope::view {
namespace {

constexpr std::size_t waiting_max = 10'000;  // Some a second.

}  // namespace

void Lag::note(const link::Status& told, std::uint64_t place, std::int64_t last_time_ns) {
  if (is_first_) first_bytes_ = told.blocks_bytes;
  is_first_ = false;
  if (told.blocks_bytes > place && waiting_.size() < waiting_max &&
      (waiting_.empty() || told.blocks_bytes > waiting_.back().blocks_bytes))
    waiting_.push_back({told.blocks_bytes, told.now_ns});
  while (!waiting_.empty() && waiting_.front().blocks_bytes <= place) waiting_.pop_front();
  if (waiting_.empty())
    behind_ns_ = 0;
  else if (place >= first_bytes_)
    behind_ns_ = told.now_ns - waiting_.front().now_ns;
  else
    behind_ns_ = last_time_ns == 0 ? 0 : told.now_ns - last_time_ns;
  behind_ns_ = std::max<std::int64_t>(behind_ns_, 0);
}

}  // namespace hbmscope::view
