#include "allocator/device/model/contents.h"

namespace hbmscope::device {

bool Contents::may_write(Address begin, Bytes bytes) {
  const Address first = begin / unit_bytes, end = round_up(begin + bytes, unit_bytes) / unit_bytes;
  std::lock_guard lock(mutex_);
  if (end - first > units_max_) return false;
  Bytes missing = 0;
  for (Address unit = first; unit < end; ++unit) missing += units_.count(unit) == 0;
  if (units_.size() + missing > units_max_) return false;
  if (missing != 0)
    for (Address unit = first; unit < end; ++unit) units_.insert(unit);
  return true;
}

bool Contents::is_written(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  const auto first = units_.lower_bound(begin / unit_bytes);
  return first != units_.end() && *first * unit_bytes < begin + bytes;
}

void Contents::forget(Address begin, Bytes bytes) {
  std::lock_guard lock(mutex_);
  // Units at the ends may be shared with a neighbour: they stay, which errs on the side of less room.
  const auto first = units_.lower_bound(round_up(begin, unit_bytes) / unit_bytes);
  const auto end = units_.lower_bound((begin + bytes) / unit_bytes);
  if (round_up(begin, unit_bytes) < begin + bytes) units_.erase(first, end);
}

Bytes Contents::written_bytes() {
  std::lock_guard lock(mutex_);
  return units_.size() * unit_bytes;
}

}  // namespace hbmscope::device
