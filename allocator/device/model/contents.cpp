#include "allocator/device/model/contents.h"

#include <iterator>

#include "allocator/device/model/address_space.h"

namespace hbmscope::device {

void Contents::forget_locked(Address begin, Bytes bytes) {
  auto write = writes_.upper_bound(begin);
  if (write != writes_.begin() && std::prev(write)->first + std::prev(write)->second > begin) --write;
  while (write != writes_.end() && write->first < begin + bytes) {
    discard_contents(write->first, write->second);
    known_bytes_ -= write->second;
    write = writes_.erase(write);
  }
}

bool Contents::begin_write(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  if (const auto same = writes_.find(begin); same != writes_.end() && same->second == bytes) return true;
  forget_locked(begin, bytes);
  if (bytes > host_bytes_max_ - known_bytes_) return false;
  known_bytes_ += bytes;
  writes_[begin] = bytes;
  return true;
}

bool Contents::is_known(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  const auto same = writes_.find(begin);
  return same != writes_.end() && same->second == bytes;
}

void Contents::forget(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  forget_locked(begin, bytes);
}

Bytes Contents::known_bytes() {
  std::lock_guard lock(mutex_);
  return known_bytes_;
}

}  // namespace hbmscope::device
