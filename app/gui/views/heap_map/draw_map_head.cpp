#include "app/gui/views/heap_map/draw_map_head.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/trace_head.h"

namespace hbmscope::gui {
namespace {

// If the view is low, e.g. with large text, the picture needs the room: the head is one line, and keys do the rest.
bool is_low() {
  return ImGui::GetContentRegionAvail().y < 12 * ImGui::GetTextLineHeight();
}

// `shown`: the result of an automatic choice.
void draw_coloring(const AppState& state, const HeapInfo& heap, HeapColoring shown, bool in_one_line,
                   CommandQueue& commands) {
  const HeapColoring now = state.position().coloring;
  std::string title(row_of(now).title);
  if (now == HeapColoring::automatic) title += ": " + std::string(row_of(shown).title);
  float width = ImGui::CalcTextSize(title.c_str()).x + 2 * ImGui::GetFrameHeight();
  if (in_one_line) {
    ImGui::SameLine();
    width = std::min(width, ImGui::GetContentRegionAvail().x);
  } else if (ImGui::GetContentRegionAvail().x > 34 * ImGui::GetFontSize()) {  // Wide enough; not side by side.
    flow(ImGui::CalcTextSize("colour by").x + width, ImGui::GetFontSize());
    ImGui::AlignTextToFramePadding();
    dim_text("colour by");
    ImGui::SameLine();
  } else {
    flow(width, ImGui::GetFontSize());
  }
  ImGui::SetNextItemWidth(width);
  if (!ImGui::BeginCombo("##color", title.c_str())) return;
  for (const Coloring& one : coloring_table()) {
    const bool is_pinned = !state.position().pin.empty();
    const std::string_view reason = one.why_not == nullptr ? std::string_view{} : one.why_not(heap, is_pinned);
    ImGui::BeginDisabled(!reason.empty());
    if (ImGui::Selectable(std::string(one.title).c_str(), one.kind == now))
      commands.push(command::set_coloring, one.kind);
    ImGui::EndDisabled();
    tooltip(reason.empty() ? one.help : reason);
  }
  ImGui::EndCombo();
}

// One button per layer of the device's memory, if there are several.
void draw_layers(const Trace& trace, HeapKey shown, CommandQueue& commands) {
  const std::vector<LayerChoice> layers = layers_of(trace, shown);
  if (layers.size() < 2) return;
  for (const LayerChoice& one : layers) {
    flow(button_width(std::string(title_of(one.layer)).c_str()));
    const bool is_shown = one.heap == shown;
    if (is_shown) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_Header));
    if (ImGui::Button(std::string(title_of(one.layer)).c_str()) && !is_shown)
      commands.push(command::choose_heap, one.heap);
    if (is_shown) ImGui::PopStyleColor();
    tooltip("Shows the same bytes as this layer sees them");
  }
}

void draw_layouts(const AppState& state, CommandQueue& commands) {
  const bool is_strip = map_layout_of(state, state.context_index()) == MapLayout::strip;
  const auto draw_button = [&](const char* title, bool is_strip_button, const char* help) {
    const bool is_on = is_strip == is_strip_button;
    if (is_on) ImGui::PushStyleColor(ImGuiCol_Button, ImGui::GetStyleColorVec4(ImGuiCol_Header));
    if (ImGui::Button(title) && !is_on) commands.push(CommandId::toggle_strip);
    if (is_on) ImGui::PopStyleColor();
    tooltip(help);
  };
  flow(button_width("Rows") + button_width("Strip"), ImGui::GetFontSize());
  draw_button("Rows", false, "Wraps the addresses into rows, like text (U)");
  ImGui::SameLine(0, 1);
  draw_button("Strip", true, "Shows the addresses as one axis, which zooms as the timeline does (U)");
}

// Empty if nothing is drawn.
std::string scale_text(const HeapMapState& map, const HeapMapAnswer& answer) {
  if (answer.spans.spans.empty()) return {};
  const double row = map.view.bytes_per_px * map.view.width;
  std::string words =
      (map.view.is_strip() ? "shows " + text_from_bytes(std::min(row, static_cast<double>(answer.spans.place_bytes)))
                           : "1 row = " + text_from_bytes(row)) +
      ", 1 px = " + text_from_bytes(map.view.bytes_per_px);
  if (answer.spans.regions.size() > 1)
    words += ", " + text_from_count(static_cast<std::int64_t>(answer.spans.regions.size())) + " regions";
  return words +
         (map.is_fit ? "   (wheel zooms, double click zooms to a block)" : "   (drag pans, 0 or Home shows all)");
}

}  // namespace

void draw_map_head(const AppState& state, const HeapMapState& map, const HeapMapAnswer& answer,
                   CommandQueue& commands) {
  const bool in_one_line = is_low();
  // All controls are there if the line is long enough.
  const bool has_controls = !in_one_line || ImGui::GetContentRegionAvail().x > 50 * ImGui::GetFontSize();
  draw_heap_chooser(state, *answer.moment->trace, answer.heap, commands);
  if (has_controls) draw_layers(*answer.moment->trace, answer.heap, commands);
  draw_coloring(state, answer.moment->stream(answer.heap).definitions().heap(answer.heap.heap), answer.spans.coloring,
                in_one_line, commands);
  std::string sentence = heap_sentence(answer);
  if (answer.pinned)
    sentence += " The change is since the pinned time, " + phrase_of(*answer.pinned, answer.heap) + ".";
  if (has_controls) draw_layouts(state, commands);
  const MapLayout layout = map_layout_of(state, state.context_index());
  if (has_controls && answer.spans.regions.size() > 1 && layout != MapLayout::strip) {
    bool by_region = layout == MapLayout::by_region;
    flow(button_width("by region") + ImGui::GetFrameHeight(), ImGui::GetFontSize());
    if (check_box("by region", &by_region)) commands.push(CommandId::toggle_regions);
    tooltip("Starts a new row at each region (R)");
  }
  if (in_one_line) {
    draw_rest_of_line(sentence, button_width("Copy"));
    tooltip("This is " + phrase_of(*answer.moment, answer.heap) + ". " + sentence + " " + scale_text(map, answer));
    if (has_room_behind(button_width("Copy"))) draw_copy_menu(ViewKind::heap_map, commands);
    return;
  }
  draw_rest_of_line(scale_text(map, answer), button_width("Copy"));
  draw_copy_menu(ViewKind::heap_map, commands);
  text(shortened(sentence, ImGui::GetContentRegionAvail().x));
  tooltip("This is " + phrase_of(*answer.moment, answer.heap) + ". " + sentence);
  // The legend follows on the same line where that is long enough for both.
  constexpr float legend_width = 48, gap = 1.5F;  // In letters.
  if (has_room_behind(legend_width * ImGui::GetFontSize())) ImGui::SameLine(0, gap * ImGui::GetFontSize());
}

}  // namespace hbmscope::gui
