#include "allocator/xla_report/occupancy.h"

#include <algorithm>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t characters = 100;

// `begin` and `bytes` are positions in all regions laid end to end, `total` bytes.
void paint(std::string& text, std::uint64_t total, std::uint64_t begin, std::uint64_t bytes, char with) {
  const std::uint64_t first = begin * characters / total, last = (begin + bytes - 1) * characters / total;
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(first), text.begin() + static_cast<std::ptrdiff_t>(last) + 1,
            with);
}

}  // namespace

std::string occupancy_text(const xla_gpu::Bfc& allocator) {
  std::uint64_t total = 0;
  for (const xla_gpu::Region& region : allocator.regions()) total += region.claim.bytes;
  if (total == 0) return "<allocator contains no memory>";
  std::string text(characters, '_');
  std::uint64_t before = 0;
  for (const xla_gpu::Region& region : allocator.regions()) {
    for (xla_gpu::ChunkIndex at = region.first; at != xla_gpu::no_chunk; at = allocator.chunk(at).next) {
      const xla_gpu::Chunk& chunk = allocator.chunk(at);
      if (!chunk.in_use) continue;
      const std::uint64_t begin = before + chunk.address - region.claim.base;
      const std::uint64_t wasted = chunk.bytes - chunk.requested_bytes;
      if (wasted > 0) paint(text, total, begin + chunk.requested_bytes, wasted, 'x');
      paint(text, total, begin, chunk.requested_bytes, '*');
    }
    before += region.claim.bytes;
  }
  return text;
}

}  // namespace hbmscope::allocator
