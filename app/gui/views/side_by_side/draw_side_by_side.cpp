#include "app/gui/views/side_by_side/draw_side_by_side.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/diff_settings.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/side_by_side.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/side_by_side/side_by_side_table.h"

namespace hbmscope::gui {
namespace {

void draw_heads(const AppState& state, CommandQueue& commands) {
  const float room = std::min(ImGui::GetFontSize() * 22, ImGui::GetContentRegionAvail().x * 0.4F);
  for (std::size_t side = 0; side < state.contexts.size(); ++side) {
    const ContextScope scope(state, side);
    if (side > 0) ImGui::SameLine(0, ImGui::GetFontSize());
    ImGui::AlignTextToFramePadding();
    bold_text(side_name(side));
    ImGui::SameLine();
    const Source* source = state.source();
    text(source == nullptr ? std::string() : shortened(source->name(), room));
    if (source != nullptr) tooltip(source->path);
  }
  flow(button_width("locked by requests") + 2 * ImGui::GetFrameHeight(), ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  dim_text("times");
  ImGui::SameLine();
  draw_lock(state, commands);
  draw_copy_menu(ViewKind::side_by_side, commands);
}

std::string exact_words(const ComparisonRow& row) {
  std::string words(row.meaning);
  if (row.unit != ComparisonRow::Unit::bytes) return words;
  if (row.a) words += "\nA: " + exact_text_from_bytes(*row.a);
  if (row.b) words += "\nB: " + exact_text_from_bytes(*row.b);
  return words;
}

void draw_figures(const HeapComparison& heaps) {
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit;
  if (!ImGui::BeginTable("figures", 4, flags)) return;
  const float figure = ImGui::CalcTextSize("+1,023.9 points").x;
  ImGui::TableSetupColumn("Figure");
  ImGui::TableSetupColumn("A", 0, figure);
  ImGui::TableSetupColumn("B", 0, figure);
  ImGui::TableSetupColumn("B - A", 0, figure);
  table_headers(1, 4);
  for (const ComparisonRow& row : heaps.rows) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(row.name);
    tooltip(exact_words(row));
    ImGui::TableNextColumn();
    right_text(text_from_figure(row, row.a));
    ImGui::TableNextColumn();
    right_text(text_from_figure(row, row.b));
    ImGui::TableNextColumn();
    right_text(text_from_difference(row), row.a == row.b);
  }
  ImGui::EndTable();
}

// Sentences on the left and figures on the right, or below each other if there is not enough room.
void draw_answer(const SideBySideAnswer& answer) {
  const HeapComparison& heaps = answer.heaps;
  const float all = ImGui::GetContentRegionAvail().x, least = ImGui::GetFontSize() * 30;
  const bool has_room = all >= 2 * least;
  ImGui::BeginChild("words", {has_room ? all - least - ImGui::GetStyle().ItemSpacing.x : 0, 0},
                    has_room ? 0 : ImGuiChildFlags_AutoResizeY);
  for (const std::string& sentence : heaps.sentences) {
    ImGui::Bullet();
    wrapped_text(sentence);
  }
  if (!answer.settings.empty()) {
    ImGui::Spacing();
    dim_text("different settings, A > B:");
    for (const SettingChange& setting : answer.settings) wrapped_text(setting_line(setting));
  }
  ImGui::EndChild();
  if (has_room) ImGui::SameLine();
  ImGui::BeginChild("figures", {0, 0});
  draw_figures(heaps);
  ImGui::EndChild();
}

}  // namespace

void draw_side_by_side(const AppState& state, SideBySideState& view, CommandQueue& commands) {
  draw_heads(state, commands);
  if (!draw_answer_state(state, state.answers().side_by_side, "the differences")) return;
  draw_answer(*state.answers().side_by_side.value);
  if (take_copy(state, ViewKind::side_by_side, view.copy_seen))
    copy_table(state, table_from_side_by_side(*state.answers().side_by_side.value), commands);
}

std::unique_ptr<DrawnView> make_side_by_side() {
  return make_view(draw_side_by_side);
}

}  // namespace hbmscope::gui
