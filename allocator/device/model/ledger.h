// The memory of one device as a number: what is taken, and whether a request still fits. 100 GiB in all and 99.5 GiB
// taken: a request for 1 GiB is refused and changes nothing, one for 0.5 GiB is taken.
#pragma once

#include "allocator/device/model/outcome.h"

namespace hbmscope::device {

class Ledger {
 public:
  explicit Ledger(Bytes total_bytes) : total_bytes_(total_bytes) {}

  // Returns false, and takes nothing, if that many bytes are not free.
  [[nodiscard]] bool take(Bytes bytes) {
    if (bytes > free_bytes()) return false;
    taken_bytes_ += bytes;
    if (taken_bytes_ > peak_bytes_) peak_bytes_ = taken_bytes_;
    return true;
  }
  void give_back(Bytes bytes) { taken_bytes_ -= bytes < taken_bytes_ ? bytes : taken_bytes_; }

  Bytes total_bytes() const { return total_bytes_; }
  Bytes taken_bytes() const { return taken_bytes_; }
  Bytes peak_bytes() const { return peak_bytes_; }  // The largest taken_bytes() so far.
  Bytes free_bytes() const { return total_bytes_ - taken_bytes_; }

 private:
  Bytes total_bytes_;
  Bytes taken_bytes_ = 0, peak_bytes_ = 0;
};

}  // namespace hbmscope::device
