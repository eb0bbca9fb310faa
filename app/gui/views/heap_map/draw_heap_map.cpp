#include "app/gui/views/heap_map/draw_heap_map.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/block_menu.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/map_legend.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/heap_map/draw_map_head.h"
#include "app/gui/views/heap_map/draw_map_marks.h"
#include "app/gui/views/heap_map/draw_map_moves.h"
#include "app/gui/views/heap_map/draw_minimap.h"
#include "app/gui/views/heap_map/legend_filter.h"

namespace hbmscope::gui {
namespace {

// Collects what keeps its colour: the blocks of the hovered or clicked legend entry, limited to the hits of a search.
// Adjacent blocks are one range.
void light(HeapMapState& map, Shade shade, std::span<const AddressRange> found, bool looks_for) {
  const HeapSpans& spans = map.shown->spans;
  map.lit_ranges.clear();
  if (shade == row_of(spans.coloring).gone_shade) {
    map.lit_ranges = spans.gone;
    return;
  }
  const auto add = [&](const HeapSpan& span) {
    if (span.kind != SpanKind::block || span.shade != shade) return;
    if (!map.lit_ranges.empty() && map.lit_ranges.back().end == span.begin)
      map.lit_ranges.back().end = span.end();
    else
      map.lit_ranges.push_back({span.begin, span.end()});
  };
  if (!looks_for) {
    for (const HeapSpan& span : spans.spans) add(span);
    return;
  }
  for (const AddressRange& range : found)
    if (const HeapSpan* span = spans.find(range.begin)) add(*span);
}

void redraw(const AppState& state, HeapMapState& map, const std::shared_ptr<const HeapMapAnswer>& answer,
            std::optional<Shade> lit) {
  const Theme theme = state.settings.theme;
  const auto found = highlighted_blocks(state);
  if (map.shown == answer && map.drawn == map.view && map.theme == theme && map.found == found && map.lit == lit)
    return;
  map.shown = answer;
  map.found = found;
  map.drawn = map.view;
  map.theme = theme;
  map.lit = lit;
  // Only hits of the same time; at another time the blocks differ. Of a running job, the hits are rarely of the very
  // version that is shown, and an earlier version of them is better than a map that forgets the filter.
  const bool is_live = state.source() != nullptr && state.source()->live;
  const HeapHits* hits =
      found && (found->of->moment == answer->moment || is_live) ? found->hits_of(answer->heap) : nullptr;
  auto ranges = hits != nullptr ? std::span<const AddressRange>(hits->ranges) : std::span<const AddressRange>();
  if (lit) {
    light(map, *lit, ranges, found != nullptr);
    ranges = map.lit_ranges;
  }
  const bool looks_for = found != nullptr && found->of->moment == answer->moment;
  map.texture.set(map.raster.draw(answer->spans, map.view, theme, ranges, !lit, looks_for), map.view.width,
                  map.view.height());
}

void select(const HeapMapAnswer& answer, const HeapSpan* span, std::optional<AddressRange> cell,
            CommandQueue& commands) {
  if (span == nullptr) return commands.push(CommandId::clear_selection);
  if (ImGui::GetIO().KeyCtrl && span->kind == SpanKind::block)
    return commands.push(command::select_also, {span->begin, {}, answer.heap});
  commands.push(command::select_address, {span->begin, frame_of_span(answer, *span), {}, cell});
}

void draw_span_tooltip(const HeapMapAnswer& answer, const HeapSpan& span, const BlockLabels* labels,
                       std::size_t in_cell) {
  const SpanText words = text_from_span(answer, span, labels);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 42);
  bold_text(words.title);
  // At most four lines, placed beside; the Inspector has all of them.
  for (std::size_t i = 0; i < std::min<std::size_t>(words.lines.size(), in_cell > 1 ? 2 : 3); ++i) text(words.lines[i]);
  if (span.kind == SpanKind::block) {
    const std::uint32_t stack = answer.moment->state_of(answer.heap).slots()[span.slot].stack;
    for (const std::string& line : stack_lines(answer.moment->stream(answer.heap).definitions(), stack, 6))
      dim_text(shortened(line, 40 * ImGui::GetFontSize()));
  }
  if (in_cell > 1)
    dim_text("the largest of " + text_from_count(static_cast<std::int64_t>(in_cell)) + " blocks in this pixel");
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

// The arrow keys select the block or gap before or behind the selected one, or the one a row above or below it.
void select_with_keys(const AppState& state, HeapMapState& map, const HeapMapAnswer& answer, CommandQueue& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const auto& address = state.position().address;
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) || io.WantTextInput || io.KeyCtrl || io.KeyAlt) return;
  if (!address) return;
  const std::vector<HeapSpan>& spans = answer.spans.spans;
  const HeapSpan* now = answer.spans.find(*address);
  if (now == nullptr) return;
  const auto index = now - spans.data();
  const HeapSpan* next = nullptr;
  if (ImGui::IsKeyPressed(ImGuiKey_LeftArrow) && index > 0) next = now - 1;
  if (ImGui::IsKeyPressed(ImGuiKey_RightArrow) && index + 1 < std::ssize(spans)) next = now + 1;
  const int rows = map.view.is_strip() ? 0
                                       : (ImGui::IsKeyPressed(ImGuiKey_DownArrow) ? 1 : 0) -
                                             (ImGui::IsKeyPressed(ImGuiKey_UpArrow) ? 1 : 0);
  if (rows != 0) {
    const HeapLine line(answer.spans, map.view);
    const auto middle = static_cast<std::int64_t>((line.px_of(now->begin) + line.px_of_end(now->end())) / 2);
    if (const auto there = line.address_at(middle + static_cast<std::int64_t>(rows) * map.view.width))
      next = answer.spans.find(*there);
  }
  if (next != nullptr && next != now) select(answer, next, std::nullopt, commands);
}

// Opens on a right click that did not drag.
void draw_map_menu(HeapMapState& map, const HeapMapAnswer& answer, const HeapSpan* under, CommandQueue& commands) {
  const bool opens = under != nullptr && under->kind == SpanKind::block &&
                     ImGui::IsMouseReleased(ImGuiMouseButton_Right) &&
                     ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Right] <= 16;
  if (opens) {
    map.menu_at = under->begin;
    ImGui::OpenPopup("block menu");
  }
  if (!ImGui::BeginPopup("block menu")) return;
  const HeapSpan* span = answer.spans.find(map.menu_at);
  if (span != nullptr && span->kind == SpanKind::block)
    draw_block_menu(
        actions_of(*answer.moment->trace, answer.heap, answer.moment->state_of(answer.heap).slots()[span->slot]),
        commands);
  else
    ImGui::CloseCurrentPopup();
  ImGui::EndPopup();
}

// Returns what is under the pointer.
const HeapSpan* handle_pointer(HeapMapState& map, const HeapMapAnswer& answer, ImVec2 origin, const MapMarks& marks,
                               CommandQueue& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const int x = static_cast<int>(std::floor(io.MousePos.x - origin.x)),
            y = static_cast<int>(std::floor(io.MousePos.y - origin.y));
  if (x < 0 || x >= map.view.width || y < 0 || y >= map.view.height()) return nullptr;
  const std::int64_t px = map.view.origin + static_cast<std::int64_t>(y / map.view.pitch) * map.view.width + x;
  const HeapLine line(answer.spans, map.view);
  std::size_t in_cell = 0;
  const HeapSpan* span = span_in_cell(answer.spans, line, px, in_cell);
  if (span != nullptr) marks.outline(*span, Role::text, 1);
  const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16;
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    if (map.is_fit && span != nullptr)
      zoom_to_span(map, *span);
    else
      map.is_fit = true;
  } else if (clicked && io.MouseClickedLastCount[0] == 1) {
    select(answer, span, in_cell > 1 ? cell_range(answer.spans, line, px) : std::nullopt, commands);
    if (span != nullptr) map.followed = span->begin;
  }
  // Not where the keyboard's focus is: no pointer is there.
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_NoNavOverride)) return span;
  if (span != nullptr) {
    draw_span_tooltip(answer, *span, marks.labels, in_cell);
  } else if (const auto behind = line.region_after_notch(px)) {
    const std::uint64_t hole = answer.spans.regions[*behind].range.begin - answer.spans.regions[*behind - 1].range.end;
    ImGui::SetTooltip("%s", hole == 0 ? "Two adjacent regions; no block spans both."
                                      : (text_from_bytes(hole) + " of addresses without memory").c_str());
  }
  return span;
}

// What the map shows besides colours.
std::vector<LegendEntry> patterns_of(const Look& look, const HeapSpans& spans) {
  std::vector<LegendEntry> patterns;
  if (spans.waste_bytes > spans.place_bytes / 1000)  // Less is hardly seen.
    patterns.push_back({"##rounding", "rounding  " + text_from_bytes(spans.waste_bytes),
                        "The hatched end of a block was not requested.", look.role(Role::dim_text), 2, Swatch::hatch,
                        false});
  if (spans.pending_bytes > 0)
    patterns.push_back({"##pending", "waits for a stream  " + text_from_bytes(spans.pending_bytes),
                        "Striped: the program freed it, but a device stream still needs it.", look.role(Role::dim_text),
                        1, Swatch::stripes, false});
  patterns.push_back({"##no memory", "no memory",
                      spans.place_bytes > spans.region_bytes
                          ? "The heap has memory at these addresses at another time, so the map keeps their place."
                          : "Between regions, and behind the last one.",
                      look.role(Role::dim_text), 0, Swatch::dots, false});
  return patterns;
}

// Returns the highlighted colour. A click filters the blocks of all views; an entry without a filter term is only
// highlighted here.
std::optional<Shade> draw_legend(const AppState& state, const Look& look, const HeapMapAnswer& answer,
                                 CommandQueue& commands) {
  const HeapSpans& spans = answer.spans;
  const std::string& where = state.position().request.where;
  const std::vector<std::string> parts = parts_of_legend(*answer.moment->trace, answer.heap, spans);
  const auto is_lit = [&](const ShadeEntry& entry) { return entry.name == state.position().lit; };
  const LegendPick pick = draw_map_legend(
      look, spans.knows_regions, spans.coloring, spans.legend,
      [&](std::size_t i) -> LegendMark {
        return {is_lit(spans.legend[i]) || has_part(where, parts[i]), parts[i]};
      },
      0, patterns_of(look, spans));
  if (pick.clicked && parts[*pick.clicked].empty())
    commands.push(command::set_lit, spans.legend[*pick.clicked].name);
  else if (pick.clicked)
    commands.push(command::set_filter, toggle_part(where, parts, parts[*pick.clicked]));
  if (pick.hovered) return spans.legend[*pick.hovered].shade;
  const auto lit = std::find_if(spans.legend.begin(), spans.legend.end(), is_lit);
  return lit == spans.legend.end() ? std::nullopt : std::optional<Shade>(lit->shade);
}

// Where the parts of the map are on the screen.
struct Places {
  ImVec2 corner, room, origin;  // The child window, and the upper left corner of the picture in it.
  float gutter = 0;             // Left of the picture.
  float overview = 0;           // The height of the minimap above a strip.
  bool has_ruler = true;        // Offsets below a strip.
  int width = 0, height = 0;    // What the picture can take at most.
};
Places find_places(const Look& look, bool is_strip) {
  Places places{ImGui::GetCursorScreenPos(), ImGui::GetContentRegionAvail(), {}};
  const ImVec2 &corner = places.corner, &room = places.room;
  // A strip has the minimap above it, and its offsets below if there is room.
  const float margin = is_strip ? look.px(4) : 0;
  places.gutter = is_strip ? margin : ImGui::CalcTextSize("+1023.9 GiB").x + look.px(6);
  places.overview = std::clamp(room.y / 5, look.px(8), look.px(36));
  places.has_ruler = is_strip && room.y > 5 * ImGui::GetTextLineHeight();
  const float above = is_strip ? places.overview + look.px(8) : 0;
  const float below = places.has_ruler ? ImGui::GetTextLineHeight() + look.px(8) : 0;
  places.origin = {std::floor(corner.x + places.gutter), std::floor(corner.y + above)};
  places.width = std::max(16, static_cast<int>(room.x - places.gutter - margin));
  places.height = std::max(8, static_cast<int>(room.y - above - below));
  if (is_strip) places.height = strip_height_in(places.height);
  return places;
}

void draw_marks(const HeapMapState& map, const HeapMapAnswer& answer, const MapMarks& marks, const Places& places,
                const Look& look, const HeapSpan* selected) {
  if (places.has_ruler) marks.ruler();
  if (!map.view.is_strip()) marks.offsets(places.corner.x, places.gutter - look.px(6));
  marks.names(answer);
  marks.ends(places.corner.x);
  marks.largest_free();
  if (selected != nullptr) marks.select(*selected);
  marks.ticks(map.raster.hit_rows(), selected);
}

// Both sides have one scale. Nothing if there is only one, or the other one is laid out otherwise.
FitBeside fit_beside(const AppState& state, const HeapMapState& map, const HeapMapAnswer& answer, int width,
                     int height) {
  if (!state.is_split()) return {};
  const std::size_t other = 1 - state.context_index();
  const auto& beside = state.contexts[other].answers.heap_map.value;
  if (beside == nullptr || beside->spans.places.empty() || map_layout_of(state, other) != map.layout) return {};
  const HeapMapView own = fit_heap_map(answer.spans, width, height, map.layout),
                    others = fit_heap_map(beside->spans, width, height, map.layout);
  FitBeside fit{std::max(own.bytes_per_px, others.bytes_per_px) * width, 0};
  fit.rows = std::max(fit_heap_map(answer.spans, width, height, map.layout, fit).rows,
                      fit_heap_map(beside->spans, width, height, map.layout, fit).rows);
  return fit;
}

void draw_picture(const AppState& state, const Look& look, HeapMapState& map,
                  const std::shared_ptr<const HeapMapAnswer>& answer, std::optional<Shade> lit,
                  CommandQueue& commands) {
  map.layout = map_layout_of(state, state.context_index());
  map.is_automatic = state.position().map_layout == MapLayout::automatic;
  const bool is_strip = map.layout == MapLayout::strip;
  if (!is_strip && map.view.is_strip()) map.is_fit = true;
  const Places places = find_places(look, is_strip);
  const ImVec2 corner = places.corner, origin = places.origin;
  const int height = places.height;
  map.minimap_width = static_cast<int>(look.px(64));  // 56 px and a gap.
  const Places of_strip = find_places(look, true);
  map.strip_left = static_cast<int>(of_strip.origin.x - origin.x);
  map.strip_width = of_strip.width;
  const Places of_rows = find_places(look, false);
  map.rows_width = of_rows.width;
  map.rows_height = of_rows.height;
  map.view.beside = map.beside = fit_beside(state, map, *answer, places.width, height);
  map.is_longer = !is_strip && goes_on_below(answer->spans,
                                             fit_heap_map(answer->spans, places.width, height, map.layout, map.beside));
  const int narrow = std::max(16, places.width - map.minimap_width);
  const int width = !is_strip && (map.is_longer || !map.is_fit) ? narrow : places.width;
  if (!map.shown) map.shown = answer;
  follow_answer(state, map, answer, width, height);
  const HeapMapView view_before = map.view;
  const bool was_fit = map.is_fit;
  ImGui::SetCursorScreenPos(origin);
  const float low = is_strip ? std::max(static_cast<float>(height), places.room.y - (origin.y - corner.y))
                             : static_cast<float>(height);
  ImGui::InvisibleButton("pieces", {static_cast<float>(width), low},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const bool hovered = ImGui::IsItemHovered();
  if (map.shown != answer) map.drawn = {};
  map.shown = answer;
  // The pointer that zoomed in rows may now be over the overview of the strip.
  const bool over_strip = is_strip && ImGui::IsWindowHovered() &&
                          ImGui::IsMouseHoveringRect(corner, {corner.x + places.room.x, corner.y + places.room.y});
  if (hovered || over_strip || ImGui::IsItemActive()) zoom_with_pointer(map, origin);
  zoom_with_keys(state, map);
  select_with_keys(state, map, *answer, commands);
  follow_selection(state, map);
  if (map.is_fit) map.view = fit_of(map, answer->spans, map.is_longer ? narrow : places.width);
  redraw(state, map, answer, lit);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(corner, {corner.x + places.room.x, corner.y + places.room.y}, true);
  map.texture.draw(draw, origin);
  const BlockLabels* labels = labels_of_stream(state, *answer->moment->trace, answer->heap.stream);
  const MapMarks marks{draw, look, answer->spans, map.view, origin, labels};
  const HeapSpan* selected = state.position().address ? answer->spans.find(*state.position().address) : nullptr;
  draw_marks(map, *answer, marks, places, look, selected);
  for (const std::uint64_t address : state.position().also)
    if (const HeapSpan* further = answer->spans.find(address)) marks.select(*further);
  const HeapSpan* under = hovered ? handle_pointer(map, *answer, origin, marks, commands) : nullptr;
  draw_map_menu(map, *answer, under, commands);
  draw.PopClipRect();
  if (is_strip || map.is_longer || !map.is_fit) {
    const auto along = static_cast<float>(is_strip ? map.view.width : height);
    const ImVec2 at = is_strip ? ImVec2(origin.x, corner.y)
                               : ImVec2(origin.x + static_cast<float>(map.view.width) + look.px(8), origin.y);
    if (const auto address = draw_minimap(look, map, at, along, is_strip ? places.overview : look.px(56), selected))
      center(map, *address);
  }
  publish_strip(map, view_before, was_fit, commands);
}

}  // namespace

void draw_heap_map(const AppState& state, HeapMapState& map, CommandQueue& commands) {
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  if (!draw_answer_state(state, state.answers().heap_map, "the heap map")) {
    if (!state.answers().pinned.pending()) draw_no_heap(state, state.answers().heap_map.state);
    return;
  }
  const std::shared_ptr<const HeapMapAnswer> answer = state.answers().heap_map.value;
  const Look look(state);
  draw_map_head(state, map, *answer, commands);
  if (answer->spans.spans.empty() && answer->spans.blocks_not_drawn > 0)
    return wrapped_text("There is no map, as no block has an address. The view Blocks lists them.");
  if (answer->spans.spans.empty()) {
    wrapped_text("This heap holds no memory " + phrase_of(*answer->moment, answer->heap) + ".");
    if (ImGui::Button("Go to the peak")) commands.push(CommandId::go_to_peak);
    return;
  }
  const std::optional<Shade> lit = draw_legend(state, look, *answer, commands);
  if (!state.position().request.where.empty()) commands.ask(Question::blocks);

  const ImVec2 room = ImGui::GetContentRegionAvail();
  if (room.x < look.px(160) || room.y < look.px(16)) return wrapped_text("Too small for the heap map.");
  ImGui::BeginChild("map", {0, 0}, 0,
                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoNavInputs);
  draw_picture(state, look, map, answer, lit, commands);
  ImGui::EndChild();
  if (take_copy(state, ViewKind::heap_map, map.copy_seen)) copy_table(state, table_from_heap(*answer), commands);
}

std::unique_ptr<DrawnView> make_heap_map() {
  return make_view(draw_heap_map);
}

}  // namespace hbmscope::gui
