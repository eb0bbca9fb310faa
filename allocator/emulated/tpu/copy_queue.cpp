#include "allocator/emulated/tpu/copy_queue.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {

CopyQueue::Queued CopyQueue::queued(const SpaceCopy& copy) const {
  return {copy, elapsed_before_[static_cast<std::size_t>(copy.after + 1)],
          elapsed_before_[static_cast<std::size_t>(copy.before)], 0};
}

std::size_t CopyQueue::place_of(const SpaceCopy& copy) const {
  const auto place = std::upper_bound(copies_.begin(), copies_.end(), copy,
                                      [](const SpaceCopy& a, const Queued& b) { return is_served_before(a, b.copy); });
  return static_cast<std::size_t>(place - copies_.begin());
}

bool CopyQueue::has_bandwidth(const SpaceCopy& copy) const {
  const Queued added = queued(copy);
  std::size_t place = place_of(copy);
  std::uint64_t finish = std::max(place > 0 ? copies_[place - 1].finish : 0, added.release) + copy.ns;
  if (finish > added.deadline) return false;
  for (; place < copies_.size(); ++place) {
    const Queued& next = copies_[place];
    finish = std::max(finish, next.release) + next.copy.ns;
    if (finish == next.finish) return true;  // Nothing changes from here on.
    if (finish > next.deadline) return false;
  }
  return true;
}

bool CopyQueue::is_crowded(const SpaceCopy& copy) const {
  if (!most_in_flight_) return false;
  std::uint32_t in_flight = 0;
  for (const Queued& each : copies_) {
    if (each.copy.after >= copy.before) break;
    if (each.copy.before > copy.after) ++in_flight;
  }
  return in_flight >= *most_in_flight_;
}

void CopyQueue::add(const SpaceCopy& copy) {
  const std::size_t place = place_of(copy);
  copies_.insert(copies_.begin() + static_cast<std::ptrdiff_t>(place), queued(copy));
  serve_from(place);
}

void CopyQueue::remove(const SpaceCopy& copy) {
  const auto found = std::find_if(copies_.begin(), copies_.end(), [&](const Queued& each) {
    return each.copy.after == copy.after && each.copy.before == copy.before && each.copy.ns == copy.ns;
  });
  if (found == copies_.end()) return;
  serve_from(static_cast<std::size_t>(copies_.erase(found) - copies_.begin()));
}

void CopyQueue::serve_from(std::size_t place) {
  for (std::size_t i = place; i < copies_.size(); ++i) {
    const std::uint64_t finish = std::max(i > 0 ? copies_[i - 1].finish : 0, copies_[i].release) + copies_[i].copy.ns;
    if (i > place && finish == copies_[i].finish) return;
    copies_[i].finish = finish;
  }
}

}  // namespace hbmscope::allocator::tpu
