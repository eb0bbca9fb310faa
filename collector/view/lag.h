// How far what has come lies behind what has happened.
#pragma once

#include <cstdint>
#include <deque>

#include "collector/link/link.h"

namespace hbmscope::view {

class Lag {
 public:
  // With each status: how many bytes of blocks have come by now, and the time of the newest event in them (0: none).
  void note(const link::Status& told, std::uint64_t place, std::int64_t last_time_ns);
  // So long ago was recorded what comes next; while the beginning is still being fetched, what came last. 0: all is
  // here.
  double seconds() const { return static_cast<double>(behind_ns_) / 1e9; }

 private:
  struct Told {
    std::uint64_t blocks_bytes = 0;
    std::int64_t now_ns = 0;
  };
  std::deque<Told> waiting_;  // What was told and has not come.
  std::uint64_t first_bytes_ = 0;
  bool is_first_ = true;
  std::int64_t behind_ns_ = 0;
};

}  // namespace hbmscope::view
