#include "app/gui/views/heap_map/draw_map_moves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/core/answers.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

// The view is made of the addresses again only if something else than this view changed them: a range of addresses is
// less exact than a scale and a pixel, and the picture would creep.
void follow_strip(HeapMapState& map, const HeapSpans& spans, bool is_new, AddressRange wanted, int width, int height) {
  const bool has_new_size = width != map.width || height != map.height || !map.view.is_strip();
  map.width = width;
  map.height = height;
  if (!is_new && !has_new_size && map.strip_shown == wanted) return;
  map.strip_shown = wanted;
  map.view = strip_of_addresses(spans, width, height, wanted, map.beside);
  map.is_fit = map.view == fit_of(map, spans, width);
}

// While zoomed, the minimap on the right makes the picture narrower; the address at (x, y) stays in place.
void set_view(HeapMapState& map, const HeapMapView& view, int x, int y) {
  const bool was_fit = map.is_fit;
  map.view = view;
  map.is_fit = view == fit_of(map, map.shown->spans, map.width);
  if (!was_fit || map.is_fit || map.is_longer || view.is_strip()) return;
  const std::int64_t row = y / view.pitch;
  std::int64_t px = view.origin + row * view.width + x;
  const auto address = HeapLine(map.shown->spans, view).address_at(px);
  map.width = std::max(16, map.width - map.minimap_width);
  map.view.width = map.width;
  // With rows by region, all positions on the line change.
  if (map.view.by_region() && address)
    px = static_cast<std::int64_t>(HeapLine(map.shown->spans, map.view).px_of(*address));
  map.view.origin = px - row * map.width - std::min(x, map.width - 1);
  map.view = pan_heap_map(map.shown->spans, map.view, 0);
}
void set_view(HeapMapState& map, const HeapMapView& view) {
  set_view(map, view, map.width / 2, map.height / 2);
}

bool leads_into_strip(const HeapMapState& map) {
  return map.is_automatic && map.layout == MapLayout::wrapped;
}

// At the pointer, or at the middle. Zooming out as far as a row of the rows leads back to them.
void zoom(HeapMapState& map, double factor, int x, int y, std::optional<std::uint64_t> address = {}) {
  const HeapSpans& spans = map.shown->spans;
  if (factor > 1 && leads_into_strip(map)) {
    const std::int64_t px = map.view.origin + static_cast<std::int64_t>(y / map.view.pitch) * map.view.width + x;
    map.to_strip = strip_of_rows(spans, map.view, map.strip_width, map.height, factor, px, x - map.strip_left);
    return;
  }
  const HeapMapView zoomed = zoom_heap_map(spans, map.view, map.height, factor, x, y, address);
  if (factor < 1 && map.is_automatic && map.view.is_strip() &&
      shown_layout(MapLayout::automatic, spans.places.size(), false) == MapLayout::wrapped) {
    const HeapMapView rows = fit_heap_map(spans, map.rows_width, map.rows_height, MapLayout::wrapped);
    if (zoomed.bytes_per_px >= rows.bytes_per_px * 0.999) {
      map.is_fit = true;
      return;
    }
  }
  set_view(map, zoomed, x, y);
}

}  // namespace

HeapMapView fit_of(const HeapMapState& map, const HeapSpans& spans, int width) {
  return fit_heap_map(spans, width, map.height, map.layout, map.beside);
}

void follow_answer(const AppState& state, HeapMapState& map, const std::shared_ptr<const HeapMapAnswer>& answer,
                   int width, int height) {
  if (map.layout == MapLayout::strip)
    return follow_strip(map, answer->spans, map.shown != answer, state.position().addresses, width, height);
  const bool is_other_heap = map.shown && map.shown->heap != answer->heap;
  const bool has_new_size = width != map.width || height != map.height;
  map.width = width;
  map.height = height;
  if (map.is_fit || !map.shown || is_other_heap || answer->spans.regions.empty()) {
    map.is_fit = true;
    map.view = fit_of(map, answer->spans, width);
    return;
  }
  if (map.shown == answer && !has_new_size && map.view.layout == map.layout) return;
  const auto anchor = HeapLine(map.shown->spans, map.view).address_at(std::max<std::int64_t>(0, map.view.origin));
  map.view.layout = map.layout;
  map.view.width = width;
  map.view.rows = std::max(1, (height + map.view.pitch - 1) / map.view.pitch);
  if (anchor) map.view.origin = static_cast<std::int64_t>(HeapLine(answer->spans, map.view).px_of(*anchor));
  if (map.view.by_region() && map.view.origin > 0) map.view.origin -= map.view.origin % map.view.width;
}

void zoom_to_span(HeapMapState& map, const HeapSpan& span) {
  if (leads_into_strip(map)) {
    const HeapSpans& spans = map.shown->spans;
    const HeapMapView strip = fit_heap_map(spans, map.strip_width, map.height, MapLayout::strip, map.beside);
    map.to_strip = addresses_of_strip(spans, zoom_to_range(spans, strip, map.height, {span.begin, span.end()}));
    return;
  }
  const bool gets_minimap = map.is_fit && !map.is_longer && map.layout != MapLayout::strip;
  const int width = gets_minimap ? std::max(16, map.width - map.minimap_width) : map.width;
  const HeapMapView fit = fit_of(map, map.shown->spans, width);
  const HeapMapView near = zoom_to_range(map.shown->spans, fit, map.height, {span.begin, span.end()});
  if (near == fit) {
    map.is_fit = true;
    return;
  }
  map.view = near;
  map.width = width;
  map.is_fit = false;
}

void follow_selection(const AppState& state, HeapMapState& map) {
  const auto& address = state.position().address;
  const HeapSpans& spans = map.shown->spans;
  if (map.fit_selection_seen != state.window.fit_selection_serial) {
    map.fit_selection_seen = state.window.fit_selection_serial;
    map.followed = address;
    const HeapSpan* span = address && state.is_active_side() ? spans.find(*address) : nullptr;
    if (span != nullptr) zoom_to_span(map, *span);
    return;
  }
  if (map.followed == address) return;
  map.followed = address;
  const HeapSpan* span = address ? spans.find(*address) : nullptr;
  if (span == nullptr || map.is_fit) return;
  const HeapLine line(spans, map.view);
  const auto begin = static_cast<std::int64_t>(line.px_of(span->begin)),
             end = static_cast<std::int64_t>(line.px_of_end(span->end()));
  const std::int64_t shown = static_cast<std::int64_t>(map.view.width) * (map.height / map.view.pitch);
  if (end >= map.view.origin && begin < map.view.origin + shown) return;
  map.view.origin = begin - static_cast<std::int64_t>(map.view.rows / 2) * map.view.width - map.view.width / 2;
  map.view = pan_heap_map(spans, map.view, 0);
}

void zoom_with_pointer(HeapMapState& map, ImVec2 origin) {
  const ImGuiIO& io = ImGui::GetIO();
  // Below a strip there is room for the wheel, too.
  const int x = static_cast<int>(io.MousePos.x - origin.x),
            y = map.view.is_strip() ? 0 : static_cast<int>(io.MousePos.y - origin.y);
  const HeapSpans& spans = map.shown->spans;
  if (io.MouseWheel != 0 && x >= 0 && y >= 0 && x < map.view.width) {
    const double step = std::pow(io.KeyCtrl ? 4.0 : 1.25, static_cast<double>(io.MouseWheel));
    HeapMapState::Anchor& anchor = map.anchor;
    if (anchor.x != x || anchor.y != y || anchor.view != map.view)
      anchor.address =
          HeapLine(spans, map.view).address_at(map.view.origin + map.view.width * (y / map.view.pitch) + x);
    zoom(map, step, x, y, anchor.address);
    anchor = {x, y, anchor.address, map.view};
  }
  if (io.MouseWheelH != 0)
    set_view(map,
             pan_heap_map(spans, map.view,
                          map.view.is_strip() ? std::lround(io.MouseWheelH * static_cast<float>(map.view.width) / 16)
                                              : std::lround(io.MouseWheelH * 3) * map.view.width));
  const bool drags =
      ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4);
  if (!drags || !ImGui::IsItemActive()) {
    map.dragged_y = 0;
    return;
  }
  // By region, regions stay at the left edge, so it pans by whole rows.
  if (map.view.by_region() && map.view.origin % map.view.width == 0) {
    map.dragged_y += io.MouseDelta.y;
    const int rows = static_cast<int>(map.dragged_y) / map.view.pitch;
    if (rows == 0 || (map.is_fit && !map.is_longer)) return;
    map.dragged_y -= static_cast<float>(rows * map.view.pitch);
    return set_view(map, pan_heap_map(spans, map.view, static_cast<std::int64_t>(rows) * map.view.width));
  }
  if (!map.is_fit && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    const float rows_moved = map.view.is_strip() ? 0 : io.MouseDelta.y / static_cast<float>(map.view.pitch);
    const auto rows = static_cast<std::int64_t>(std::lround(rows_moved * static_cast<float>(map.view.width)));
    set_view(map, pan_heap_map(spans, map.view, rows + static_cast<std::int64_t>(io.MouseDelta.x)));
  }
}

void zoom_with_keys(const AppState& state, HeapMapState& map) {
  if (map.zoom_seen != state.window.zoom_serial) {  // The key 0 shows everything.
    map.zoom_seen = state.window.zoom_serial;
    const bool has_pointer = ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows);
    if (has_pointer || state.is_in_front(ViewKind::heap_map)) map.is_fit = true;
  }
  if (!takes_letters()) return;
  if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) && ImGui::IsKeyPressed(ImGuiKey_Home)) map.is_fit = true;
  const HeapSpans& spans = map.shown->spans;
  const int x = map.view.width / 2, y = map.view.is_strip() ? 0 : std::min(map.height, map.view.height() - 1) / 2;
  if (ImGui::IsKeyPressed(ImGuiKey_W)) zoom(map, 1.25, x, y);
  if (ImGui::IsKeyPressed(ImGuiKey_S)) zoom(map, 0.8, x, y);
  if (map.is_fit && !map.is_longer) return;
  const int by = map.view.is_strip() ? map.view.width / 8 : map.view.width;
  if (ImGui::IsKeyPressed(ImGuiKey_A)) set_view(map, pan_heap_map(spans, map.view, by));
  if (ImGui::IsKeyPressed(ImGuiKey_D)) set_view(map, pan_heap_map(spans, map.view, -by));
}

void center(HeapMapState& map, std::uint64_t address) {
  const HeapLine line(map.shown->spans, map.view);
  const auto px = static_cast<std::int64_t>(line.px_of(address));
  map.view.origin = map.view.is_strip()
                        ? px - map.view.width / 2
                        : px - static_cast<std::int64_t>(map.height / map.view.pitch / 2) * map.view.width;
  map.view = pan_heap_map(map.shown->spans, map.view, 0);
}

void publish_strip(HeapMapState& map, const HeapMapView& before, bool was_fit, CommandQueue& commands) {
  if (!map.to_strip.empty()) {
    commands.push(command::show_addresses, std::exchange(map.to_strip, {}));
    return;
  }
  if (!map.view.is_strip()) return;
  const HeapSpans& spans = map.shown->spans;
  if (map.is_fit) map.view = fit_of(map, spans, map.width);
  if (map.view == before && map.is_fit == was_fit) return;
  map.strip_shown = map.is_fit ? AddressRange{} : addresses_of_strip(spans, map.view);
  commands.push(command::show_addresses, map.strip_shown);
}

}  // namespace hbmscope::gui
