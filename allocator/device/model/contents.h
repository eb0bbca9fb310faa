// What is stored in device memory. Copies and fills reach host memory behind the device's addresses, so that a program
// reads back what it wrote; kernels compute nothing. Host memory is limited (HBMSCOPE_DEVICE_HOST_BYTES): once that
// much device memory has been written, further writes are dropped, and what they would have changed reads as zeros or
// keeps its old value. A fill with zeros gives host memory back.
#pragma once

#include <mutex>
#include <set>

#include "allocator/device/model/outcome.h"

namespace hbmscope::device {

class Contents {
 public:
  explicit Contents(Bytes host_bytes_max) : units_max_(host_bytes_max / unit_bytes) {}

  // True if the range may be written: it has been before, or the limit leaves room for it. Both ends are rounded
  // outwards to 64 KiB.
  bool may_write(Address begin, Bytes bytes);
  // False: nothing has been written there, so it reads as zeros.
  bool is_written(Address begin, Bytes bytes);
  // The range has been freed, or filled with zeros.
  void forget(Address begin, Bytes bytes);
  Bytes written_bytes();

 private:
  static constexpr Bytes unit_bytes = Bytes{64} << 10;

  std::mutex mutex_;
  Bytes units_max_;
  std::set<Address> units_;  // Address / unit_bytes.
};

}  // namespace hbmscope::device
