// Limits the cost of a computation and lets another thread cancel it. Long computations check it along the way.
#pragma once

#include <atomic>
#include <cstdint>

namespace hbmscope::allocator::tpu {

class Work {
 public:
  static constexpr std::uint64_t no_limit = ~std::uint64_t{0};
  // `cancelled` may be set from any thread. If it is null, the work is never cancelled.
  explicit Work(std::uint64_t steps_max = no_limit, const std::atomic<bool>* cancelled = nullptr)
      : steps_max_(steps_max), cancelled_(cancelled) {}

  static constexpr std::uint64_t steps_of_sorting = 8;  // Per chunk, for some ten thousand chunks at a time.
  static constexpr std::uint64_t steps_of_turn = 40;    // One step of a kernel's grid, per operand.
  // A step looks at one chunk of a heap, which takes some nanoseconds. Returns false to stop; the result is then
  // incomplete.
  bool spend(std::uint64_t steps) {
    steps_ = steps > steps_max_ - steps_ ? steps_max_ : steps_ + steps;
    return !is_over();
  }
  bool is_cancelled() const { return cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed); }
  bool is_over() const { return steps_ == steps_max_ || is_cancelled(); }
  std::uint64_t steps() const { return steps_; }

 private:
  const std::uint64_t steps_max_;
  const std::atomic<bool>* cancelled_;
  std::uint64_t steps_ = 0;
};

}  // namespace hbmscope::allocator::tpu
