// How far a viewer's data lags behind the present.
#pragma once

#include <cstdint>
#include <deque>

#include "collector/link/link.h"

namespace hbmscope::view {

class Lag {
 public:
  // Called with each status: how many bytes of blocks have arrived, and the time of the newest event in them (0: none).
  void note(const link::Status& status, std::uint64_t place, std::int64_t last_time_ns);
  // The age of the next event to arrive; while the beginning is still being fetched, the age of the last event that
  // arrived. 0: everything has arrived.
  double seconds() const { return static_cast<double>(behind_ns_) / 1e9; }

 private:
  struct Reported {
    std::uint64_t blocks_bytes = 0;
    std::int64_t now_ns = 0;
  };
  std::deque<Reported> waiting_;  // Reported, but not yet arrived.
  std::uint64_t first_bytes_ = 0;
  bool is_first_ = true;
  std::int64_t behind_ns_ = 0;
};

}  // namespace hbmscope::view
