#include "allocator/tpu/runtime/hbm_memory.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {
namespace {

// Calls visit(begin, end) for each gap, in ascending order.
template <class Visit>
void for_each_gap(std::uint64_t begin, std::uint64_t end, const std::map<std::uint64_t, std::uint64_t>& buffers,
                  const Visit& visit) {
  for (const auto& [address, bytes] : buffers) {
    if (address > begin) visit(begin, address);
    begin = address + bytes;
  }
  if (end > begin) visit(begin, end);
}

}  // namespace

std::optional<std::uint64_t> HbmMemory::allocate(std::uint64_t bytes) {
  std::uint64_t best_bytes = 0, best_end = 0;
  for_each_gap(reserved_, usable_, buffers_, [&](std::uint64_t begin, std::uint64_t end) {
    if (end - begin < bytes || (best_end != 0 && end - begin > best_bytes)) return;
    best_bytes = end - begin;
    best_end = end;
  });
  if (best_end == 0) return std::nullopt;
  buffers_[best_end - bytes] = bytes;
  in_buffers_ += bytes;
  return best_end - bytes;
}

void HbmMemory::free(std::uint64_t address) {
  const auto buffer = buffers_.find(address);
  in_buffers_ -= buffer->second;
  buffers_.erase(buffer);
}

bool HbmMemory::reserve(std::uint64_t bytes) {
  if (bytes > reservable_bytes()) return false;
  reserved_ = bytes;
  return true;
}

std::vector<Move> HbmMemory::compact() {
  std::vector<Move> moves;
  std::map<std::uint64_t, std::uint64_t> moved;
  std::uint64_t end = usable_;
  for (auto buffer = buffers_.rbegin(); buffer != buffers_.rend(); ++buffer) {
    end -= buffer->second;
    moved[end] = buffer->second;
    if (end != buffer->first) moves.push_back({buffer->first, end, buffer->second});
  }
  buffers_ = std::move(moved);
  return moves;
}

std::uint64_t HbmMemory::largest_free_bytes() const {
  std::uint64_t largest = 0;
  for_each_gap(reserved_, usable_, buffers_,
               [&](std::uint64_t begin, std::uint64_t end) { largest = std::max(largest, end - begin); });
  return largest;
}

}  // namespace hbmscope::allocator::tpu
