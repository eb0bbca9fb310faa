#include "app/gui/views/heap_map/draw_minimap.h"

#include <algorithm>

#include "app/gui/core/answers.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/heap_map/draw_map_moves.h"
#include "app/gui/views/heap_map/heap_minimap.h"

namespace hbmscope::gui {
namespace {

constexpr float line_px = 2;

// Hits per line, so that a million hits make no more marks than there are lines.
std::vector<bool> hit_lines(const HeapMapState& map, const HeapLine& whole, std::size_t lines) {
  std::vector<bool> found(lines, false);
  const HeapMapAnswer& answer = *map.shown;
  const HeapHits* hits =
      map.found && map.found->of->moment == answer.moment ? map.found->hits_of(answer.heap) : nullptr;
  if (hits == nullptr) return found;
  // For each line: whether a hit begins in it or extends into it.
  for (std::size_t i = 0; i < lines; ++i) {
    const auto from = address_of_minimap(answer.spans, whole, static_cast<double>(i) / static_cast<double>(lines));
    const auto to = address_of_minimap(answer.spans, whole, static_cast<double>(i + 1) / static_cast<double>(lines));
    const auto first = std::partition_point(hits->ranges.begin(), hits->ranges.end(),
                                            [&](const AddressRange& one) { return one.end <= from; });
    found[i] = first != hits->ranges.end() && first->begin < to;
  }
  return found;
}

}  // namespace

std::optional<std::uint64_t> draw_minimap(const Look& look, HeapMapState& map, ImVec2 at, float length, float thickness,
                                          const HeapSpan* selected) {
  const HeapSpans& spans = map.shown->spans;
  const bool is_across = map.view.is_strip();
  const int lines = std::max(1, static_cast<int>(length / line_px));
  // The line of a picture of the whole heap, so that a strip that shows it all lies exactly below its minimap.
  const HeapLine whole(spans, fit_of(map, spans, map.width).bytes_per_px);
  if (map.minimap_of != map.shown || map.minimap.size() != static_cast<std::size_t>(lines) ||
      map.minimap_scale != whole.bytes_per_px()) {
    map.minimap = compute_minimap(spans, whole, lines);
    map.minimap_of = map.shown;
    map.minimap_scale = whole.bytes_per_px();
  }
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImVec2 size = is_across ? ImVec2(length, thickness) : ImVec2(thickness, length);
  const ImVec2 end{at.x + size.x, at.y + size.y};
  // [along, along_end) of the heap; `from` and `to` grow to the right, across it upwards.
  const auto fill = [&](float along, float along_end, float from, float to, Role role) {
    along_end = std::min(along_end, length);
    if (is_across)
      draw.AddRectFilled({at.x + along, end.y - to}, {at.x + along_end, end.y - from}, look.role(role));
    else
      draw.AddRectFilled({at.x + from, at.y + along}, {at.x + to, at.y + along_end}, look.role(role));
  };
  fill(0, length, 0, thickness, spans.knows_regions ? Role::free : Role::not_identified);
  for (std::size_t i = 0; i < map.minimap.size(); ++i) {
    const float along = static_cast<float>(i) * line_px;
    if (map.minimap[i] > 0) fill(along, along + line_px, 0, thickness * std::min(1.0F, map.minimap[i]), Role::several);
  }
  const auto mark = [&](const HeapSpan& span, Role role) {
    const float along = static_cast<float>(minimap_place(whole, span.begin)) * length;
    const auto share = static_cast<float>(static_cast<double>(span.size) / static_cast<double>(spans.place_bytes));
    fill(along, along + std::max(look.px(3), share * length), -look.px(4), 0, role);
  };
  const std::vector<bool> hits = hit_lines(map, whole, map.minimap.size());
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const float along = static_cast<float>(i) * line_px;
    if (hits[i]) fill(along, along + std::max(line_px, look.px(3)), thickness - look.px(6), thickness, Role::selection);
  }
  if (spans.largest_free) mark(spans.spans[*spans.largest_free], Role::largest_free);
  if (selected != nullptr) mark(*selected, Role::selection);
  // The visible part of the picture.
  const HeapLine line(spans, map.view);
  const std::int64_t shown = static_cast<std::int64_t>(map.view.width) * std::max(1, map.height / map.view.pitch);
  // Where the first and the last visible address are.
  const auto place = [&](std::int64_t px, double outside) {
    if (px < 0) return 0.0;
    return px >= line.length_px() ? outside : minimap_place(whole, line.address_of_place(px));
  };
  const double first = place(map.view.origin, 0), last = place(map.view.origin + shown, 1);
  const float from = static_cast<float>(first) * length;
  const float to = std::min(length, std::max(from + look.px(is_across ? 8 : 3), static_cast<float>(last) * length));
  if (is_across)
    draw_selection(draw, look, {at.x + from, at.y}, {at.x + to, end.y});
  else
    draw_selection(draw, look, {at.x, at.y + from}, {end.x, at.y + to});
  ImGui::SetCursorScreenPos(at);
  ImGui::InvisibleButton("minimap", size);
  tooltip(is_across
              ? "The whole heap, memory in use from the bottom. Click to show the addresses there, or drag the frame."
              : "The whole heap, memory in use from the left. Click to show the addresses there.");
  if (!ImGui::IsItemActive()) return std::nullopt;
  const ImVec2 pointer = ImGui::GetIO().MousePos;
  const double here = static_cast<double>((is_across ? pointer.x - at.x : pointer.y - at.y) / length);
  // The frame of a strip is dragged where it was grabbed.
  if (ImGui::IsItemActivated()) map.grabbed = is_across && here >= first && here < last ? here - (first + last) / 2 : 0;
  return address_of_minimap(spans, whole, here - map.grabbed);
}

}  // namespace hbmscope::gui
