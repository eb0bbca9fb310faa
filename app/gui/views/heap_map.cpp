#include "app/gui/views/heap_map.h"

#include <algorithm>
#include <cmath>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/piece_text.h"
#include "app/gui/core/tables.h"
#include "app/gui/views/answer_state.h"
#include "app/gui/views/drawing.h"
#include "app/gui/views/frame_menu.h"
#include "app/gui/views/map_marks.h"
#include "app/gui/views/trace_head.h"

namespace hbmscope::gui {
namespace {

std::string bytes(double bytes) {
  return text_from_bytes(std::llround(bytes));
}

void draw_coloring(const AppState& state, CommandQueue& commands) {
  const HeapColoring now = state.position().coloring;
  ImGui::AlignTextToFramePadding();
  dim_text("colour by");
  ImGui::SameLine();
  ImGui::SetNextItemWidth(ImGui::CalcTextSize("Own code").x + 2 * ImGui::GetFrameHeight());
  if (!ImGui::BeginCombo("##color", std::string(title_of(now)).c_str())) return;
  for (const HeapColoring one : {HeapColoring::own_code, HeapColoring::size, HeapColoring::age, HeapColoring::state})
    if (ImGui::Selectable(std::string(title_of(one)).c_str(), one == now))
      commands.push(CommandId::set_coloring, std::string(text_from_coloring(one)));
  ImGui::EndCombo();
}

// What the colours are, with bytes; what does not fit into the line is named in the tooltip of the last entry.
void draw_legend(const Look& look, const HeapPieces& map) {
  const float side = look.px(12), line = ImGui::GetTextLineHeight(), gap = look.px(14);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto entry = [&](const std::string& name, ImU32 color, int id, std::string_view more, bool is_last) {
    const float width = side + look.px(5) + ImGui::CalcTextSize(name.c_str()).x;
    const float x = id == 0 ? ImGui::GetCursorScreenPos().x : ImGui::GetItemRectMax().x + gap;
    const float room = is_last ? 0 : look.px(90);
    if (id != 0 && x + width + room > right) return false;
    if (id != 0) ImGui::SameLine(0, gap);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::PushID(id);
    ImGui::Dummy({width, line});
    ImGui::PopID();
    const float top = at.y + (line - side) / 2;
    draw.AddRectFilled({at.x, top}, {at.x + side, top + side}, color);
    draw.AddRect({at.x, top}, {at.x + side, top + side}, look.role(Role::dim_text, 0.5F));
    draw.AddText({at.x + side + look.px(5), at.y}, look.role(Role::dim_text), name.c_str());
    tooltip(more);
    return true;
  };
  int id = 0;
  entry(map.knows_regions ? "free" : "not identified", look.role(map.knows_regions ? Role::free : Role::not_identified),
        id++,
        map.knows_regions ? "An empty stretch of full height is contiguous free memory."
                          : "The source does not tell what is free.",
        false);
  for (std::size_t i = 0; i < map.legend.size(); ++i) {
    const ShadeEntry& one = map.legend[i];
    const std::string sum = bytes(static_cast<double>(one.bytes));
    const ImU32 color = look.color(color_of_shade(look.theme, map.coloring, one.shade));
    if (entry(one.name + "  " + sum, color, id++,
              one.name + ": " + sum + " in " + text_from_count(static_cast<std::int64_t>(one.blocks)) + " blocks",
              i + 1 == map.legend.size()))
      continue;
    ImGui::SameLine(0, gap);
    dim_text("+ " + std::to_string(map.legend.size() - i) + " more");
    std::string rest;
    for (std::size_t j = i; j < map.legend.size(); ++j)
      rest += (j == i ? "" : "\n") + map.legend[j].name + ": " + bytes(static_cast<double>(map.legend[j].bytes));
    tooltip(rest);
    break;
  }
}

std::string scale_text(const HeapMapState& map, const HeapMapAnswer& answer) {
  std::string words =
      "1 row = " + bytes(map.view.bytes_per_px * map.view.width) + ", 1 px = " + bytes(map.view.bytes_per_px);
  if (answer.pieces.regions.size() > 1)
    words += ", " + text_from_count(static_cast<std::int64_t>(answer.pieces.regions.size())) + " regions";
  return words + (map.is_fit ? "   (wheel zooms, double click zooms to a block)"
                             : "   (drag pans, double click or 0 shows all)");
}

void draw_head(const AppState& state, const HeapMapState& map, const HeapMapAnswer& answer, CommandQueue& commands) {
  if (draw_heap_chooser(state, *answer.moment->trace, answer.heap, commands)) ImGui::SameLine(0, ImGui::GetFontSize());
  draw_coloring(state, commands);
  ImGui::SameLine(0, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  dim_text(shortened(scale_text(map, answer), ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  draw_copy_menu(ViewKind::heap_map, commands);
  const std::string sentence = heap_sentence(answer);
  text(shortened(sentence, ImGui::GetContentRegionAvail().x));
  tooltip("This is " + phrase_of(answer.moment->moment) + ". " + sentence);
}

// The picture stays at its addresses when another moment is shown.
void follow_answer(HeapMapState& map, const std::shared_ptr<const HeapMapAnswer>& answer, int width, int height) {
  const bool is_other_heap = map.shown && map.shown->heap != answer->heap;
  const bool has_new_size = width != map.width || height != map.height;
  map.width = width;
  map.height = height;
  if (map.is_fit || !map.shown || is_other_heap || answer->pieces.regions.empty()) {
    map.is_fit = true;
    map.view = fit_heap_map(answer->pieces, width, height);
    return;
  }
  if (map.shown == answer && !has_new_size) return;
  const auto anchor =
      HeapLine(map.shown->pieces, map.view.bytes_per_px).address_at(std::max<std::int64_t>(0, map.view.origin));
  map.view.width = width;
  map.view.rows = std::max(1, (height + map.view.pitch - 1) / map.view.pitch);
  if (anchor)
    map.view.origin = static_cast<std::int64_t>(HeapLine(answer->pieces, map.view.bytes_per_px).px_of(*anchor));
}

void redraw(const AppState& state, HeapMapState& map, const std::shared_ptr<const HeapMapAnswer>& answer) {
  const Theme theme = state.settings.theme;
  if (map.shown == answer && map.drawn == map.view && map.theme == theme) return;
  map.shown = answer;
  map.drawn = map.view;
  map.theme = theme;
  map.texture.set(map.raster.draw(answer->pieces, map.view, theme), map.view.width, map.view.height());
}

void set_view(HeapMapState& map, const HeapMapView& view) {
  map.view = view;
  map.is_fit = view == fit_heap_map(map.shown->pieces, map.width, map.height);
}

void zoom_with_pointer(HeapMapState& map, ImVec2 origin) {
  const ImGuiIO& io = ImGui::GetIO();
  const int x = static_cast<int>(io.MousePos.x - origin.x), y = static_cast<int>(io.MousePos.y - origin.y);
  const HeapPieces& pieces = map.shown->pieces;
  if (io.MouseWheel != 0 && x >= 0 && y >= 0 && x < map.view.width) {
    const double step = std::pow(io.KeyCtrl ? 4.0 : 1.25, static_cast<double>(io.MouseWheel));
    set_view(map, zoom_heap_map(pieces, map.view, map.height, step, x, y));
  }
  const bool drags =
      ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle, 4);
  if (drags && ImGui::IsItemActive() && !map.is_fit && (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
    const auto rows = static_cast<std::int64_t>(
        std::lround(io.MouseDelta.y / static_cast<float>(map.view.pitch) * static_cast<float>(map.view.width)));
    set_view(map, pan_heap_map(pieces, map.view, rows + static_cast<std::int64_t>(io.MouseDelta.x)));
  }
}

void zoom_with_keys(const AppState& state, HeapMapState& map) {
  const ImGuiIO& io = ImGui::GetIO();
  if (map.zoom_seen != state.window.zoom_serial) {  // 0 fits all.
    map.zoom_seen = state.window.zoom_serial;
    if (state.position().view == ViewKind::heap_map) map.is_fit = true;
  }
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) || io.WantTextInput || io.KeyCtrl || io.KeyAlt) return;
  const HeapPieces& pieces = map.shown->pieces;
  const int x = map.view.width / 2, y = map.height / 2;
  if (ImGui::IsKeyPressed(ImGuiKey_W)) set_view(map, zoom_heap_map(pieces, map.view, map.height, 1.25, x, y));
  if (ImGui::IsKeyPressed(ImGuiKey_S)) set_view(map, zoom_heap_map(pieces, map.view, map.height, 0.8, x, y));
  if (map.is_fit) return;
  if (ImGui::IsKeyPressed(ImGuiKey_A)) set_view(map, pan_heap_map(pieces, map.view, map.view.width));
  if (ImGui::IsKeyPressed(ImGuiKey_D)) set_view(map, pan_heap_map(pieces, map.view, -map.view.width));
}

void select(const HeapMapAnswer& answer, const HeapPiece* piece, CommandQueue& commands) {
  if (piece == nullptr) return commands.push(CommandId::clear_selection);
  Command command{CommandId::select_address, address_text(piece->begin), {}, SourceId::none, {}, {}};
  command.frame = frame_of_piece(answer, *piece);
  commands.push(std::move(command));
}

void draw_piece_tooltip(const HeapMapAnswer& answer, const HeapPiece& piece, std::size_t in_cell) {
  const PieceText words = text_from_piece(answer, piece);
  ImGui::BeginTooltip();
  ImGui::PushTextWrapPos(ImGui::GetFontSize() * 42);
  bold_text(words.title);
  for (const std::string& line : words.lines) text(line);
  if (in_cell > 1)
    dim_text("the largest of " + text_from_count(static_cast<std::int64_t>(in_cell)) + " pieces in this pixel");
  ImGui::PopTextWrapPos();
  ImGui::EndTooltip();
}

void handle_pointer(HeapMapState& map, const HeapMapAnswer& answer, ImVec2 origin, const MapMarks& marks,
                    CommandQueue& commands) {
  const ImGuiIO& io = ImGui::GetIO();
  const int x = static_cast<int>(std::floor(io.MousePos.x - origin.x)),
            y = static_cast<int>(std::floor(io.MousePos.y - origin.y));
  if (x < 0 || x >= map.view.width || y < 0 || y >= map.view.height()) return;
  const std::int64_t px = map.view.origin + static_cast<std::int64_t>(y / map.view.pitch) * map.view.width + x;
  const HeapLine line(answer.pieces, map.view.bytes_per_px);
  std::size_t in_cell = 0;
  const HeapPiece* piece = piece_in_cell(answer.pieces, line, px, in_cell);
  if (piece != nullptr) marks.outline(*piece, Role::text, 1);
  const bool clicked = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseDragMaxDistanceSqr[0] <= 16;
  if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    const HeapMapView fit = fit_heap_map(answer.pieces, map.width, map.height);
    const bool zooms = map.is_fit && piece != nullptr;
    set_view(map, zooms ? zoom_to_range(answer.pieces, fit, map.height, {piece->begin, piece->end()}) : fit);
  } else if (clicked && io.MouseClickedLastCount[0] == 1) {
    select(answer, piece, commands);
  }
  if (!ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip)) return;
  if (piece != nullptr) {
    draw_piece_tooltip(answer, *piece, in_cell);
  } else if (const auto behind = line.region_after_notch(px)) {
    const std::uint64_t hole =
        answer.pieces.regions[*behind].range.begin - answer.pieces.regions[*behind - 1].range.end;
    ImGui::SetTooltip("%s", hole == 0 ? "Two regions that touch; no block crosses."
                                      : (bytes(static_cast<double>(hole)) + " of addresses without memory").c_str());
  }
}

}  // namespace

void draw_heap_map(const AppState& state, HeapMapState& map, CommandQueue& commands) {
  commands.ask(Question::heap_map);
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  if (!draw_answer_state(state, state.answers().heap_map, "the heap map")) {
    if (state.answers().moment.state == AnswerState::ready && state.answers().heap_map.state == AnswerState::absent)
      wrapped_text("No heap of this trace ever held anything, so there is nothing to draw.");
    return;
  }
  const std::shared_ptr<const HeapMapAnswer> answer = state.answers().heap_map.value;
  const Look look(state);
  draw_head(state, map, *answer, commands);
  if (answer->pieces.pieces.empty()) {
    wrapped_text("This heap holds no memory " + phrase_of(answer->moment->moment) + ".");
    if (ImGui::Button("Go to the peak")) commands.push(CommandId::go_to_peak);
    return;
  }
  draw_legend(look, answer->pieces);

  ImGui::BeginChild("map", {0, 0}, 0, ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar);
  const float gutter = ImGui::CalcTextSize("+1023.9 GiB").x + look.px(6);
  const ImVec2 corner = ImGui::GetCursorScreenPos(), room = ImGui::GetContentRegionAvail();
  const ImVec2 origin{std::floor(corner.x + gutter), std::floor(corner.y)};
  const int width = std::max(16, static_cast<int>(room.x - gutter)), height = std::max(8, static_cast<int>(room.y));
  if (!map.shown) map.shown = answer;
  follow_answer(map, answer, width, height);
  ImGui::SetCursorScreenPos(origin);
  ImGui::InvisibleButton("pieces", {static_cast<float>(width), static_cast<float>(height)},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonMiddle);
  ImGui::SetItemKeyOwner(ImGuiKey_MouseWheelY);
  const bool hovered = ImGui::IsItemHovered();
  if (map.shown != answer) map.drawn = {};
  map.shown = answer;
  if (hovered || ImGui::IsItemActive()) zoom_with_pointer(map, origin);
  zoom_with_keys(state, map);
  if (map.is_fit) map.view = fit_heap_map(answer->pieces, width, height);
  redraw(state, map, answer);
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  draw.PushClipRect(corner, {corner.x + room.x, corner.y + room.y}, true);
  map.texture.draw(draw, origin);
  const MapMarks marks{draw, look, answer->pieces, map.view, origin};
  marks.offsets(corner.x, gutter - look.px(6));
  marks.names(*answer);
  marks.largest_free();
  if (state.position().address)
    if (const HeapPiece* selected = answer->pieces.find(*state.position().address)) marks.select(*selected);
  if (hovered) handle_pointer(map, *answer, origin, marks, commands);
  draw.PopClipRect();
  ImGui::EndChild();
  if (take_copy(state, ViewKind::heap_map, map.copy_seen)) copy_table(state, table_from_heap(*answer), commands);
}

}  // namespace hbmscope::gui
