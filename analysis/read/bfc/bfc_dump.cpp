#include "analysis/read/bfc/bfc_dump.h"

#include <algorithm>
#include <numeric>

namespace hbmscope::bfc {

std::uint64_t Region::listed_bytes() const {
  return std::accumulate(chunks.begin(), chunks.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const Chunk& chunk) { return sum + chunk.size; });
}

bool Dump::has_all_chunks() const {
  if (regions.empty() || !has_list_begin || !has_list_end) return false;
  return std::all_of(regions.begin(), regions.end(), [](const Region& region) {
    return !region.chunks.empty() && (!region.size || *region.size == region.listed_bytes());
  });
}

}  // namespace hbmscope::bfc
