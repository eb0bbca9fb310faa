#include "allocator/emulated/cuda/model/contents.h"

#include <iterator>

#include "allocator/emulated/cuda/model/address_space.h"

namespace hbmscope::device {

void Contents::forget_locked(Address begin, Bytes bytes) {
  auto write = writes_.upper_bound(begin);
  if (write != writes_.begin() && std::prev(write)->first + std::prev(write)->second.bytes > begin) --write;
  while (write != writes_.end() && write->first < begin + bytes) {
    discard_contents(write->first, write->second.bytes);
    known_bytes_ -= write->second.bytes;
    write = writes_.erase(write);
  }
  auto zeros = zeros_.upper_bound(begin);
  if (zeros != zeros_.begin() && std::prev(zeros)->first + std::prev(zeros)->second > begin) --zeros;
  while (zeros != zeros_.end() && zeros->first < begin + bytes) zeros = zeros_.erase(zeros);
}

bool Contents::begin_write(Address begin, Bytes bytes, std::optional<std::uint64_t> date) {
  std::lock_guard lock(mutex_);
  if (const auto same = writes_.find(begin); same != writes_.end() && same->second.bytes == bytes) {
    same->second.date = date.value_or(now());
    return true;
  }
  forget_locked(begin, bytes);
  if (bytes > host_bytes_max_ - known_bytes_) return false;
  known_bytes_ += bytes;
  writes_[begin] = {bytes, date.value_or(now())};
  return true;
}

bool Contents::is_known(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  const auto same = writes_.find(begin);
  return same != writes_.end() && same->second.bytes == bytes;
}

std::optional<std::uint64_t> Contents::find_date(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  if (const auto same = writes_.find(begin); same != writes_.end() && same->second.bytes == bytes)
    return same->second.date;
  if (zeros_.empty() || zeros_date_ != now()) return std::nullopt;
  auto zeros = zeros_.upper_bound(begin);
  if (zeros == zeros_.begin()) return std::nullopt;
  --zeros;
  if (begin + bytes > zeros->first + zeros->second) return std::nullopt;
  return zeros_date_;
}

void Contents::note_zeros(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  constexpr std::size_t zeros_max = 64;
  if (zeros_date_ != now()) zeros_.clear();
  zeros_date_ = now();
  if (zeros_.size() < zeros_max) zeros_[begin] = bytes;
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
