// The memory of one device as a number: what is taken, and whether a request still fits. 100 GiB in all and 99.5 GiB
// taken: a request for 1 GiB is refused and changes nothing, one for 0.5 GiB is taken.
#pragma once

#include <algorithm>

#include "allocator/emulated/accounts/accounts.h"
#include "allocator/emulated/cuda/model/outcome.h"

namespace hbmscope::device {

class Ledger {
 public:
  // `accounts`, if not null, has what other processes take of the same device, `number` on the machine.
  explicit Ledger(Bytes total_bytes, Accounts* accounts = nullptr, int number = 0)
      : total_bytes_(total_bytes), accounts_(accounts), number_(number) {}

  // Returns false, and takes nothing, if that many bytes are not free.
  [[nodiscard]] bool take(Bytes bytes) {
    if (bytes > total_bytes_ - taken_bytes_) return false;
    if (accounts_ != nullptr && !accounts_->take(number_, bytes, total_bytes_)) return false;
    taken_bytes_ += bytes;
    peak_bytes_ = std::max(peak_bytes_, taken_bytes_);
    return true;
  }
  void give_back(Bytes bytes) {
    bytes = std::min(bytes, taken_bytes_);
    taken_bytes_ -= bytes;
    if (accounts_ != nullptr) accounts_->give_back(number_, bytes);
  }
  // Notes the answer to a request of the program.
  Outcome noted(Bytes requested_bytes, Outcome outcome) {
    if (accounts_ != nullptr && outcome != Outcome::invalid)
      accounts_->note_answer(number_, requested_bytes, outcome == Outcome::out_of_memory);
    return outcome;
  }

  Bytes total_bytes() const { return total_bytes_; }
  // By this process.
  Bytes taken_bytes() const { return taken_bytes_; }
  Bytes peak_bytes() const { return peak_bytes_; }  // The largest taken_bytes() so far.
  // What no process has taken.
  Bytes free_bytes() const {
    const Bytes taken = accounts_ != nullptr ? accounts_->taken_bytes(number_) : taken_bytes_;
    return total_bytes_ - std::min(total_bytes_, std::max(taken, taken_bytes_));
  }

 private:
  Bytes total_bytes_;
  Bytes taken_bytes_ = 0, peak_bytes_ = 0;
  Accounts* accounts_;
  int number_;
};

}  // namespace hbmscope::device
