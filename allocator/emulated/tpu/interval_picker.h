// Decides when a copy between HBM and VMEM may begin, and how long a value may stay in VMEM without a use.
//
// Source: prefetch_interval_picker of xla/service/memory_space_assignment, without its handling of loops.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "allocator/emulated/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

class CopyIntervals {
 public:
  // `elapsed_before`: for each operation the time of all operations before it, and the total time at the end.
  CopyIntervals(const AssignmentProblem& problem, std::span<const std::uint64_t> elapsed_before);

  // The time between two operations, both exclusive.
  std::uint64_t elapsed_between(std::int64_t after, std::int64_t before) const;
  bool may_stay(std::int64_t from, std::int64_t use) const;
  // The operation before which an eviction that begins after `from` should end; at most `latest`.
  std::int64_t preferred_eviction_end(std::uint64_t copy_ns, std::int64_t from, std::int64_t latest,
                                      std::uint32_t retry) const;
  // The operations after which a prefetch may begin, in the order in which to try them. `saved_ns`: the time that the
  // operation gains from having the value in VMEM; the copy may take that much longer.
  std::vector<std::int64_t> prefetch_starts(std::uint64_t copy_ns, std::uint64_t saved_ns, std::int64_t earliest,
                                            std::int64_t use) const;

 private:
  const AssignmentOptions& options_;
  std::span<const std::uint64_t> elapsed_before_;
  std::uint64_t longest_ns_ = 0;
};

}  // namespace hbmscope::allocator::tpu
