#include "allocator/device/model/graph_memory.h"

#include <algorithm>

namespace hbmscope::device {

Outcome GraphMemory::hold(Ledger& ledger, const void* executable, Bytes bytes) {
  if (bytes > reserved_ && !ledger.take(bytes - reserved_)) return Outcome::out_of_memory;
  reserved_ = std::max(reserved_, bytes);
  reserved_peak_ = std::max(reserved_peak_, reserved_);
  held_by_[executable] = bytes;
  used_peak_ = std::max(used_peak_, bytes);
  return Outcome::ok;
}

void GraphMemory::trim(Ledger& ledger) {
  const Bytes kept = used();
  ledger.give_back(reserved_ - kept);
  reserved_ = kept;
}

Bytes GraphMemory::used() const {
  Bytes largest = 0;
  for (const auto& [executable, bytes] : held_by_) largest = std::max(largest, bytes);
  return largest;
}

}  // namespace hbmscope::device
