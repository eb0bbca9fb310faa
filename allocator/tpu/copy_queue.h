// Copies in one direction that share a bandwidth, each between two operations. They are served in the order in which
// they begin, of those that begin together the one that is needed first; a copy that begins late waits for those before
// it. All have to end before what waits for them begins.
//
// Source: AsynchronousCopyResource of xla/service/memory_space_assignment. The operations' times, added up, are one
// axis here: a copy is let go at the end of the operation after which it begins, and its deadline is the beginning of
// the one before which it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "allocator/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

class CopyQueue {
 public:
  // `elapsed_before`: by operation, what all before it take; one more at the end, of all.
  CopyQueue(std::span<const std::uint64_t> elapsed_before, std::optional<std::uint32_t> most_in_flight)
      : elapsed_before_(elapsed_before), most_in_flight_(most_in_flight) {}

  bool has_bandwidth(const SpaceCopy& copy) const;
  bool is_crowded(const SpaceCopy& copy) const;
  void add(const SpaceCopy& copy);
  void remove(const SpaceCopy& copy);
  std::size_t size() const { return copies_.size(); }  // What each of these may look at.

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
  std::vector<Queued> copies_;  // As they are served.
};

}  // namespace hbmscope::allocator::tpu
