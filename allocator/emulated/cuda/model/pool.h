// A pool of stream-ordered memory (cuMemAllocAsync). Documented: free memory up to the release threshold stays in the
// pool when the program synchronises, memory above it is returned; the pool grows by more than one request; free memory
// is returned before a request fails. Assumed: sizes are rounded up to 512 B, the pool grows in multiples of 32 MiB (of
// 2 MiB, the granularity, if that does not fit), and a block goes into the smallest hole that is large enough. With
// another granularity it grows by 16 times that.
#pragma once

#include <map>

#include "allocator/emulated/cuda/model/holes.h"
#include "allocator/emulated/cuda/model/ledger.h"
#include "allocator/emulated/cuda/model/ranges.h"

namespace hbmscope::device {

struct PoolBytes {
  Bytes reserved = 0, reserved_peak = 0;  // Taken from the device.
  Bytes used = 0, used_peak = 0;          // In blocks, after rounding.
};

class Pool {
 public:
  // `bytes_max` limits what the pool allocates from the device, unless it is 0.
  Pool(std::uint64_t id, int device, Bytes bytes_max, Bytes granularity = granularity_bytes)
      : id_(id), device_(device), bytes_max_(bytes_max), granularity_(granularity) {}

  Answer allocate(Ledger& ledger, Ranges& ranges, Bytes bytes);
  // `range` is of Kind::pooled and of this pool.
  void free(Ranges& ranges, const Range& range);
  // Returns chunks without a block until at most `kept_bytes` are reserved, or no such chunk is left.
  void trim(Ledger& ledger, Bytes kept_bytes);
  // The program has synchronised: free memory above the threshold goes back.
  void trim_to_threshold(Ledger& ledger) { trim(ledger, release_threshold_); }

  std::uint64_t id() const { return id_; }
  int device() const { return device_; }
  const PoolBytes& bytes() const { return bytes_; }
  Bytes release_threshold() const { return release_threshold_; }
  void set_release_threshold(Bytes bytes) { release_threshold_ = bytes; }
  void reset_reserved_peak() { bytes_.reserved_peak = bytes_.reserved; }
  void reset_used_peak() { bytes_.used_peak = bytes_.used; }

 private:
  Bytes rounded(Bytes bytes) const;
  bool grow(Ledger& ledger, Bytes bytes);
  std::map<Address, Holes>::iterator find_chunk(Bytes bytes);

  std::uint64_t id_;
  int device_;
  Bytes bytes_max_, granularity_;
  Bytes release_threshold_ = 0;
  PoolBytes bytes_;
  std::map<Address, Holes> chunks_;
};

}  // namespace hbmscope::device
