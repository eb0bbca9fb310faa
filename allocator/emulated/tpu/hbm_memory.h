// A TPU's HBM as its runtime manages it. Memory for loaded programs is reserved as one block at the bottom, and buffers
// are above it. If a request fails because no free block is large enough, the runtime slides all buffers together.
//
//   0          reserved                                                        usable
//   |==========|          free            |buffer| free |buffer||buffer| free  |
//
// The runtime's error texts and openxla.org/xla/errors/error_0100 confirm that programs are at the bottom, buffers are
// above, and a failed request defragments. Assumed, because not published: which gap is chosen (the smallest that fits,
// of equals the highest, at its upper end) and how buffers move (up, the highest first).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace hbmscope::allocator::tpu {

struct Move {
  std::uint64_t from = 0, to = 0, bytes = 0;
};

class HbmMemory {
 public:
  explicit HbmMemory(std::uint64_t usable_bytes) : usable_(usable_bytes) { add_gap(0, usable_bytes); }

  // Returns the address; no value if no gap is large enough. `bytes` must be above 0. Logarithmic in the number of
  // buffers, as all but compact().
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  void free(std::uint64_t address);  // `address` must be that of a live buffer.
  // Resizes the reservation to `bytes`. False: a buffer is in the way.
  bool reserve(std::uint64_t bytes);
  // Moves all buffers to the upper end, keeping their order. Returns the moves in the order in which they must be
  // copied.
  std::vector<Move> compact();

  std::uint64_t usable_bytes() const { return usable_; }
  std::uint64_t reserved_bytes() const { return reserved_; }
  std::uint64_t buffer_bytes() const { return in_buffers_; }
  std::uint64_t free_bytes() const { return usable_ - reserved_ - in_buffers_; }
  std::uint64_t largest_free_bytes() const { return gaps_.empty() ? 0 : gaps_.rbegin()->bytes; }
  std::size_t buffers() const { return buffers_.size(); }
  // The maximum size of the reservation: everything below the lowest buffer.
  std::uint64_t reservable_bytes() const { return buffers_.empty() ? usable_ : buffers_.begin()->first; }

 private:
  using Buffers = std::map<std::uint64_t, std::uint64_t>;  // Address -> bytes.
  struct Gap {
    std::uint64_t bytes = 0, end = 0;
    // The order in which a request prefers them.
    bool operator<(const Gap& other) const { return bytes != other.bytes ? bytes < other.bytes : end > other.end; }
  };

  // Without effect if empty: buffers may touch.
  void add_gap(std::uint64_t begin, std::uint64_t end) {
    if (begin != end) gaps_.insert({end - begin, end});
  }
  void remove_gap(std::uint64_t begin, std::uint64_t end) { gaps_.erase({end - begin, end}); }
  // The gaps next to a buffer begin and end here.
  std::uint64_t end_before(Buffers::const_iterator buffer) const;
  std::uint64_t begin_after(Buffers::const_iterator buffer) const;

  const std::uint64_t usable_;
  std::uint64_t reserved_ = 0, in_buffers_ = 0;
  Buffers buffers_;
  std::set<Gap> gaps_;
};

}  // namespace hbmscope::allocator::tpu
