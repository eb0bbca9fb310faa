// What is stored in device memory. Kernels compute nothing, so most of it is unknown; a program gets zeros for it. Only
// what the program itself copied there can be read back, as a whole: after a copy of 4 MiB to the device, a copy of the
// same 4 MiB back gives the data, and a copy of its first 4 bytes gives zeros. That is deliberate: those 4 bytes are
// usually the result of a kernel (a loss, a count, a condition) in a block that was used for something else before, and
// zeros are better there than what happens to be left: loops end and counts fit.
// Host memory is limited (HBMSCOPE_DEVICE_HOST_BYTES): what does not fit is not kept, and reads as zeros.
#pragma once

#include <map>
#include <mutex>

#include "allocator/device/model/outcome.h"

namespace hbmscope::device {

class Contents {
 public:
  explicit Contents(Bytes host_bytes_max) : host_bytes_max_(host_bytes_max) {}

  // The program is going to write this range: what overlaps it is forgotten. Returns false if the range must not be
  // written, as there is no room left.
  bool begin_write(Address begin, Bytes bytes);
  // True if the program wrote exactly this range, and nothing of it since.
  bool is_known(Address begin, Bytes bytes);
  // Forgets what overlaps the range, and gives its host memory back. The addresses must still be there.
  void forget(Address begin, Bytes bytes);
  Bytes known_bytes();

 private:
  void forget_locked(Address begin, Bytes bytes);

  std::mutex mutex_;
  Bytes host_bytes_max_;
  Bytes known_bytes_ = 0;
  std::map<Address, Bytes> writes_;  // Begin -> bytes; they don't overlap.
};

}  // namespace hbmscope::device
