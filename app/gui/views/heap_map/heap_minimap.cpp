#include "app/gui/views/heap_map/heap_minimap.h"

#include <algorithm>

namespace hbmscope::gui {

std::vector<float> compute_minimap(const HeapSpans& map, const HeapLine& line, int parts) {
  std::vector<float> shares(static_cast<std::size_t>(std::max(1, parts)), 0);
  const double px_of_part = static_cast<double>(line.length_px()) / static_cast<double>(shares.size());
  if (px_of_part <= 0) return shares;
  const double bytes_of_part = px_of_part * line.bytes_per_px();
  for (std::size_t i = 0; i < map.regions.size(); ++i) {
    const SpanRegion& region = map.regions[i];
    const double region_begin = static_cast<double>(line.begin_px(i)) / px_of_part;
    for (std::size_t at = region.first; at < region.last; ++at) {
      const HeapSpan& span = map.spans[at];
      if (span.kind != SpanKind::block) continue;
      const double begin = region_begin + static_cast<double>(span.begin - region.range.begin) / bytes_of_part;
      const double end = begin + static_cast<double>(span.size) / bytes_of_part;
      for (auto part = static_cast<std::size_t>(begin); part < shares.size() && static_cast<double>(part) < end; ++part)
        shares[part] += static_cast<float>(std::min(end, static_cast<double>(part + 1)) -
                                           std::max(begin, static_cast<double>(part)));
    }
  }
  return shares;
}

double minimap_place(const HeapLine& line, std::uint64_t address) {
  return line.length_px() == 0 ? 0 : line.px_of(address) / static_cast<double>(line.length_px());
}

std::uint64_t address_of_minimap(const HeapSpans& map, const HeapLine& line, double place) {
  const auto px = static_cast<std::int64_t>(std::clamp(place, 0.0, 1.0) * static_cast<double>(line.length_px()));
  if (const auto address = line.address_at(px)) return *address;
  const std::size_t region = line.region_at_or_after(px);
  return region < map.regions.size() ? map.regions[region].range.begin : map.regions.back().range.end - 1;
}

}  // namespace hbmscope::gui
