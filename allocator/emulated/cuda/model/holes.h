// The free parts of one page or of one chunk of a pool, as offsets from its beginning. Neighbours are always merged.
#pragma once

#include <map>
#include <optional>

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

class Holes {
 public:
  explicit Holes(Bytes size) : size_(size) { by_offset_[0] = size; }

  // The size of the smallest hole that has room for `bytes`, or nothing.
  std::optional<Bytes> find_best_fit(Bytes bytes) const;
  // Takes the lowest hole that is large enough (first fit), or the smallest one (best fit); returns its offset.
  std::optional<Bytes> take_first_fit(Bytes bytes);
  std::optional<Bytes> take_best_fit(Bytes bytes);
  void put_back(Bytes offset, Bytes bytes);

  bool nothing_is_taken() const { return by_offset_.size() == 1 && by_offset_.begin()->second == size_; }
  Bytes size() const { return size_; }

 private:
  Bytes take(std::map<Bytes, Bytes>::iterator hole, Bytes bytes);

  Bytes size_;
  std::map<Bytes, Bytes> by_offset_;  // Offset -> size.
};

}  // namespace hbmscope::device
