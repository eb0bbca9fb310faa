#include "allocator/emulated/cuda/model/holes.h"

#include <iterator>

namespace hbmscope::device {

std::optional<Bytes> Holes::find_best_fit(Bytes bytes) const {
  std::optional<Bytes> best;
  for (const auto& [offset, size] : by_offset_)
    if (size >= bytes && (!best || size < *best)) best = size;
  return best;
}

Bytes Holes::take(std::map<Bytes, Bytes>::iterator hole, Bytes bytes) {
  const auto [offset, size] = *hole;
  by_offset_.erase(hole);
  if (size > bytes) by_offset_[offset + bytes] = size - bytes;
  return offset;
}

std::optional<Bytes> Holes::take_first_fit(Bytes bytes) {
  for (auto hole = by_offset_.begin(); hole != by_offset_.end(); ++hole)
    if (hole->second >= bytes) return take(hole, bytes);
  return std::nullopt;
}

std::optional<Bytes> Holes::take_best_fit(Bytes bytes) {
  const std::optional<Bytes> best = find_best_fit(bytes);
  if (!best) return std::nullopt;
  for (auto hole = by_offset_.begin(); hole != by_offset_.end(); ++hole)
    if (hole->second == *best) return take(hole, bytes);
  return std::nullopt;
}

void Holes::put_back(Bytes offset, Bytes bytes) {
  const auto hole = by_offset_.emplace(offset, bytes).first;
  if (const auto next = std::next(hole); next != by_offset_.end() && offset + bytes == next->first) {
    hole->second += next->second;
    by_offset_.erase(next);
  }
  if (hole == by_offset_.begin()) return;
  if (const auto before = std::prev(hole); before->first + before->second == offset) {
    before->second += hole->second;
    by_offset_.erase(hole);
  }
}

}  // namespace hbmscope::device
