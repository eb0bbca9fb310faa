// What is stored in device memory. Kernels compute nothing, so most of it is unknown; a program gets zeros for it. Only
// what the program itself copied there can be read back, as a whole: after a copy of 4 MiB to the device, a copy of the
// same 4 MiB back gives the data, and a copy of its first 4 bytes gives zeros. That is deliberate: those 4 bytes are
// usually the result of a kernel (a loss, a count, a condition) in a block that was used for something else before, and
// zeros are better there than what happens to be left: loops end and counts fit.
// What is read back is certain only if no kernel was launched since the program wrote it: a kernel may have changed it,
// or computed something else in a block that a framework has used again. Everything else that a program gets is made
// up, and so is what it decides by it (value_reads.h). Host memory is limited (HBMSCOPE_DEVICE_HOST_BYTES): what does
// not fit is not kept, and reads as zeros.
#pragma once

#include <atomic>
#include <map>
#include <mutex>
#include <optional>

#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

class Contents {
 public:
  explicit Contents(Bytes host_bytes_max) : host_bytes_max_(host_bytes_max) {}

  // A kernel was launched, on whatever stream, or a library computes something.
  void note_launch() { launches_.fetch_add(1, std::memory_order_relaxed); }
  // The number of launches so far, by which a write is dated.
  std::uint64_t now() const { return launches_.load(std::memory_order_relaxed); }

  // The program is going to write this range: what overlaps it is forgotten. Returns false if the range must not be
  // written, as there is no room left. `date` is that of the values, and null means now.
  bool begin_write(Address begin, Bytes bytes, std::optional<std::uint64_t> date = {});
  // True if the program wrote exactly this range, and nothing of it since.
  bool is_known(Address begin, Bytes bytes);
  // When what is read from this range was written, as a value of now(). If it is null, it was never written as a whole,
  // so a kernel must have computed it.
  std::optional<std::uint64_t> find_date(Address begin, Bytes bytes);
  // The program fills it with zeros. It reads as zeros anyway: this only dates them.
  void note_zeros(Address begin, Bytes bytes);
  // Forgets what overlaps the range, and gives its host memory back. The addresses must still be there.
  void forget(Address begin, Bytes bytes);
  Bytes known_bytes();

 private:
  void forget_locked(Address begin, Bytes bytes);

  std::mutex mutex_;
  Bytes host_bytes_max_;
  Bytes known_bytes_ = 0;
  struct Write {
    Bytes bytes;
    std::uint64_t date;
  };
  std::map<Address, Write> writes_;  // By begin; they don't overlap.
  // What was filled with zeros since the last launch: afterwards nothing is certain. At most zeros_max.
  std::map<Address, Bytes> zeros_;
  std::uint64_t zeros_date_ = 0;
  std::atomic<std::uint64_t> launches_{0};
};

}  // namespace hbmscope::device
