// A TPU's HBM as its runtime keeps it: what loaded programs need is reserved in one piece at the bottom, buffers lie
// above, and a request that fails for want of one piece that is large enough makes the runtime slide all buffers
// together.
//
//   0          reserved                                                        usable
//   |==========|          free            |buffer| free |buffer||buffer| free  |
//
// That programs are at the bottom, buffers above, and that a failed request defragments is what the runtime's own texts
// and openxla.org/xla/errors/error_0100 say. How a gap is chosen (the smallest that fits, of equals the highest, at its
// upper end) and how buffers are slid (up, the highest first) is not published: assumed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace hbmscope::allocator::tpu {

struct Move {
  std::uint64_t from = 0, to = 0, bytes = 0;
};

class HbmMemory {
 public:
  explicit HbmMemory(std::uint64_t usable_bytes) : usable_(usable_bytes) {}

  // The address; nothing: no gap holds it. `bytes` above 0.
  std::optional<std::uint64_t> allocate(std::uint64_t bytes);
  void free(std::uint64_t address);  // Of a buffer that lives.
  // The reservation becomes as large as that. False: a buffer is in the way.
  bool reserve(std::uint64_t bytes);
  // All buffers to the upper end, in their order. In the order in which they have to be copied.
  std::vector<Move> compact();

  std::uint64_t usable_bytes() const { return usable_; }
  std::uint64_t reserved_bytes() const { return reserved_; }
  std::uint64_t buffer_bytes() const { return in_buffers_; }
  std::uint64_t free_bytes() const { return usable_ - reserved_ - in_buffers_; }
  std::uint64_t largest_free_bytes() const;
  std::size_t buffers() const { return buffers_.size(); }
  // What the reservation can become: all below the lowest buffer.
  std::uint64_t reservable_bytes() const { return buffers_.empty() ? usable_ : buffers_.begin()->first; }

 private:
  const std::uint64_t usable_;
  std::uint64_t reserved_ = 0, in_buffers_ = 0;
  std::map<std::uint64_t, std::uint64_t> buffers_;  // Address -> bytes.
};

}  // namespace hbmscope::allocator::tpu
