#include "app/gui/views/heap_map/draw_minimap.h"

#include <algorithm>
#include <cmath>

#include "app/gui/look/drawing.h"
#include "app/gui/views/heap_map/heap_minimap.h"

namespace hbmscope::gui {
namespace {

constexpr float line_px = 2;

// Hits per line, so that a million hits make no more marks than there are lines.
std::vector<bool> hit_lines(const HeapMapState& map, std::size_t lines) {
  std::vector<bool> found(lines, false);
  const HeapMapAnswer& answer = *map.shown;
  const HeapHits* hits =
      map.found && map.found->of->moment == answer.moment ? map.found->hits_of(answer.heap) : nullptr;
  if (hits == nullptr) return found;
  // For each line: whether a hit begins in it or extends into it.
  for (std::size_t i = 0; i < lines; ++i) {
    const auto from = address_of_minimap(answer.spans, static_cast<double>(i) / static_cast<double>(lines));
    const auto to = address_of_minimap(answer.spans, static_cast<double>(i + 1) / static_cast<double>(lines));
    const auto first = std::partition_point(hits->ranges.begin(), hits->ranges.end(),
                                            [&](const AddressRange& one) { return one.end <= from; });
    found[i] = first != hits->ranges.end() && first->begin < to;
  }
  return found;
}

}  // namespace

std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, ImVec2 size,
                                          const HeapSpan* selected) {
  const HeapSpans& spans = map.shown->spans;
  const int lines = std::max(1, static_cast<int>(size.y / line_px));
  if (map.minimap_of != map.shown || map.minimap.size() != static_cast<std::size_t>(lines)) {
    map.minimap = compute_minimap(spans, lines);
    map.minimap_of = map.shown;
  }
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 end{at.x + size.x, at.y + size.y};
  draw.AddRectFilled(at, end, look.role(spans.knows_regions ? Role::free : Role::not_identified));
  for (std::size_t i = 0; i < map.minimap.size(); ++i) {
    const float y = at.y + static_cast<float>(i) * line_px;
    draw.AddRectFilled({at.x, y}, {at.x + size.x * std::min(1.0F, map.minimap[i]), y + line_px},
                       look.role(Role::several));
  }
  const auto mark = [&](const HeapSpan& span, Role role) {
    const float y = at.y + static_cast<float>(minimap_place(spans, span.begin)) * size.y;
    const float height =
        std::max(look.px(3),
                 static_cast<float>(static_cast<double>(span.size) / static_cast<double>(spans.region_bytes)) * size.y);
    draw.AddRectFilled({at.x - look.px(4), y}, {at.x, std::min(end.y, y + height)}, look.role(role));
  };
  const std::vector<bool> hits = hit_lines(map, map.minimap.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    if (!hits[i]) continue;
    const float y = at.y + static_cast<float>(i) * line_px;
    draw.AddRectFilled({end.x - look.px(6), y}, {end.x, y + std::max(line_px, look.px(3))}, look.role(Role::selection));
  }
  if (spans.largest_free) mark(spans.spans[*spans.largest_free], Role::largest_free);
  if (selected != nullptr) mark(*selected, Role::selection);
  // The visible part of the picture.
  const HeapLine line(spans, map.view);
  const auto place = [&](std::int64_t px) {
    return static_cast<float>(static_cast<double>(std::clamp<std::int64_t>(px, 0, line.length_px())) /
                              static_cast<double>(std::max<std::int64_t>(1, line.length_px())));
  };
  const std::int64_t shown = static_cast<std::int64_t>(map.view.width) * (map.height / map.view.pitch);
  const float top = at.y + place(map.view.origin) * size.y;
  const float bottom = std::max(top + look.px(3), at.y + place(map.view.origin + shown) * size.y);
  draw_selection(draw, look, {at.x, top}, {end.x, std::min(end.y, bottom)});
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("minimap", size);
  tooltip("The whole heap, memory in use from the left. Click to show the addresses there.");
  if (!ImGui::IsItemActive()) return std::nullopt;
  return address_of_minimap(spans, static_cast<double>((ImGui::GetIO().MousePos.y - at.y) / size.y));
}

}  // namespace hbmscope::gui
