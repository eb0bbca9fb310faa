// Whether the peak of each pool is certain, if some blocks may be larger than they are known to be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace hbmscope::torch {

class PeakBounds {
 public:
  using Pool = std::pair<std::uint64_t, std::uint64_t>;  // As in TorchPoolId.

  // `excess_bytes_max`: by how much the block may be larger.
  void take(const Pool& pool, std::uint64_t bytes, std::uint64_t excess_bytes_max) {
    Sums& sums = pools_[pool];
    sums.in_use += bytes;
    sums.excess += excess_bytes_max;
    sums.peak = std::max(sums.peak, sums.in_use);
    sums.peak_max = std::max(sums.peak_max, sums.in_use + sums.excess);
  }
  // The same numbers as when it was taken.
  void give_back(const Pool& pool, std::uint64_t bytes, std::uint64_t excess_bytes_max) {
    Sums& sums = pools_[pool];
    sums.in_use -= bytes;
    sums.excess -= excess_bytes_max;
  }

  // By how much the peak of each pool may be higher than it is known to be. At 0 it is certain.
  std::map<Pool, std::uint64_t> excess_bytes_max() const {
    std::map<Pool, std::uint64_t> excess;
    for (const auto& [pool, sums] : pools_) excess[pool] = sums.peak_max - sums.peak;
    return excess;
  }

 private:
  struct Sums {
    std::uint64_t in_use = 0, excess = 0, peak = 0, peak_max = 0;
  };
  std::map<Pool, Sums> pools_;
};

}  // namespace hbmscope::torch
