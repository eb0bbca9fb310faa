// Copies in one direction that share a bandwidth. Each runs between two operations. They are served in the order in
// which they begin; of those that begin together, the one with the earlier deadline goes first. A copy that begins late
// waits for those before it. Every copy must end before its deadline.
//
// Source: AsynchronousCopyResource of xla/service/memory_space_assignment. Here the accumulated times of the operations
// form one axis: a copy is released at the end of the operation after which it begins, and its deadline is the
// beginning of the operation that needs it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/emulated/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

class CopyQueue {
 public:
  // `elapsed_before`: for each operation the time of all operations before it, and the total time at the end.
  CopyQueue(std::span<const std::uint64_t> elapsed_before, std::optional<std::uint32_t> most_in_flight)
      : elapsed_before_(elapsed_before), most_in_flight_(most_in_flight) {}

  bool has_bandwidth(const SpaceCopy& copy) const;
  bool is_crowded(const SpaceCopy& copy) const;
  void add(const SpaceCopy& copy);
  void remove(const SpaceCopy& copy);
  std::size_t size() const { return copies_.size(); }  // How many copies the functions above may look at.

 private:
  struct Queued {
    SpaceCopy copy;
    std::uint64_t release, deadline, finish;
  };
  Queued queued(const SpaceCopy& copy) const;
  std::size_t place_of(const SpaceCopy& copy) const;
  void serve_from(std::size_t place);

  std::span<const std::uint64_t> elapsed_before_;
  std::optional<std::uint32_t> most_in_flight_;
  std::vector<Queued> copies_;  // In the order of service.
};

}  // namespace hbmscope::allocator::tpu
