#include "app/gui/views/heap_map/heap_minimap.h"

#include <algorithm>

namespace hbmscope::gui {

std::vector<float> compute_minimap(const HeapSpans& map, int lines) {
  std::vector<float> shares(static_cast<std::size_t>(std::max(1, lines)), 0);
  if (map.region_bytes == 0) return shares;
  const double per_line = static_cast<double>(map.region_bytes) / static_cast<double>(shares.size());
  double before = 0;  // Bytes of the preceding regions.
  for (const SpanRegion& region : map.regions) {
    for (std::size_t i = region.first; i < region.last; ++i) {
      const HeapSpan& span = map.spans[i];
      if (span.kind != SpanKind::block) continue;
      const double begin = (before + static_cast<double>(span.begin - region.range.begin)) / per_line;
      const double end = begin + static_cast<double>(span.size) / per_line;
      for (auto line = static_cast<std::size_t>(begin); line < shares.size() && static_cast<double>(line) < end; ++line)
        shares[line] += static_cast<float>(std::min(end, static_cast<double>(line + 1)) -
                                           std::max(begin, static_cast<double>(line)));
    }
    before += static_cast<double>(region.range.size());
  }
  return shares;
}

double minimap_place(const HeapSpans& map, std::uint64_t address) {
  std::uint64_t before = 0;
  for (const SpanRegion& region : map.regions) {
    if (address < region.range.end) {
      before += address - std::min(address, region.range.begin);
      break;
    }
    before += region.range.size();
  }
  return map.region_bytes == 0 ? 0 : static_cast<double>(before) / static_cast<double>(map.region_bytes);
}

std::uint64_t address_of_minimap(const HeapSpans& map, double place) {
  auto left = static_cast<std::uint64_t>(std::clamp(place, 0.0, 1.0) * static_cast<double>(map.region_bytes));
  for (const SpanRegion& region : map.regions) {
    if (left < region.range.size()) return region.range.begin + left;
    left -= region.range.size();
  }
  return map.regions.back().range.end - 1;
}

}  // namespace hbmscope::gui
