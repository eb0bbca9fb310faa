// Counts and bytes by powers of two: step 0 is the value 0, step k covers [2^(k-1), 2^k). Every 64-bit value has a
// step, and a histogram takes a kilobyte.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/model/clamped.h"

namespace hbmscope {

class PowerHistogram {
 public:
  struct Step {
    std::uint64_t from = 0;           // Values of at least this ...
    std::optional<std::uint64_t> to;  // ... and less than this; nothing if it is 2^64.
    std::uint64_t count = 0, bytes = 0;

    friend bool operator==(const Step&, const Step&) = default;
  };

  // `bytes`: the bytes of the thing with this value; for sizes, the value itself.
  void add(std::uint64_t value, std::uint64_t bytes) {
    Sum& sum = sums_[static_cast<std::size_t>(std::bit_width(value))];
    ++sum.count;
    sum.bytes = clamped_sum(sum.bytes, bytes);
    ++count_;
  }

  std::uint64_t count() const { return count_; }
  // The non-empty steps, in ascending order.
  std::vector<Step> steps() const {
    std::vector<Step> steps;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      if (sums_[i].count == 0) continue;
      Step& step = steps.emplace_back();
      step.from = i == 0 ? 0 : std::uint64_t{1} << (i - 1);
      if (i < 64) step.to = std::uint64_t{1} << i;
      step.count = sums_[i].count;
      step.bytes = sums_[i].bytes;
    }
    return steps;
  }

 private:
  struct Sum {
    std::uint64_t count = 0, bytes = 0;
  };
  std::array<Sum, 65> sums_{};
  std::uint64_t count_ = 0;
};

}  // namespace hbmscope
