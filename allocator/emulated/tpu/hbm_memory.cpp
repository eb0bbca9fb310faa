#include "allocator/emulated/tpu/hbm_memory.h"

#include <iterator>
#include <limits>

namespace hbmscope::allocator::tpu {

std::uint64_t HbmMemory::end_before(Buffers::const_iterator buffer) const {
  if (buffer == buffers_.begin()) return reserved_;
  const auto& [address, bytes] = *std::prev(buffer);
  return address + bytes;
}

std::uint64_t HbmMemory::begin_after(Buffers::const_iterator buffer) const {
  const auto next = std::next(buffer);
  return next == buffers_.end() ? usable_ : next->first;
}

std::optional<std::uint64_t> HbmMemory::allocate(std::uint64_t bytes) {
  const auto best = gaps_.lower_bound({bytes, std::numeric_limits<std::uint64_t>::max()});
  if (best == gaps_.end()) return std::nullopt;
  const Gap gap = *best;
  gaps_.erase(best);
  const std::uint64_t address = gap.end - bytes;
  add_gap(gap.end - gap.bytes, address);
  buffers_.emplace(address, bytes);
  in_buffers_ += bytes;
  return address;
}

void HbmMemory::free(std::uint64_t address) {
  const auto buffer = buffers_.find(address);
  const std::uint64_t bytes = buffer->second, begin = end_before(buffer), end = begin_after(buffer);
  remove_gap(begin, address);
  remove_gap(address + bytes, end);
  add_gap(begin, end);
  in_buffers_ -= bytes;
  buffers_.erase(buffer);
}

bool HbmMemory::reserve(std::uint64_t bytes) {
  if (bytes > reservable_bytes()) return false;
  remove_gap(reserved_, reservable_bytes());
  reserved_ = bytes;
  add_gap(reserved_, reservable_bytes());
  return true;
}

std::vector<Move> HbmMemory::compact() {
  std::vector<Move> moves;
  Buffers moved;
  std::uint64_t end = usable_;
  for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
    end -= buffer->second;
    moved.emplace_hint(moved.begin(), end, buffer->second);
    if (end != buffer->first) moves.push_back({buffer->first, end, buffer->second});
  }
  buffers_ = std::move(moved);
  gaps_.clear();
  add_gap(reserved_, end);
  return moves;
}

}  // namespace hbmscope::allocator::tpu
