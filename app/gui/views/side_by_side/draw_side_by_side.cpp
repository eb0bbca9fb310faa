#include "app/gui/views/side_by_side/draw_side_by_side.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/diff_settings.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/side_by_side.h"
#include "app/gui/look/table_columns.h"
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

// The settings that differ come first: they explain most of what follows.
void draw_settings(const SideBySideAnswer& answer) {
  if (answer.settings.empty()) return dim_text("No setting differs, as far as both files say.");
  bold_text("Settings that differ");
  for (const SettingChange& setting : answer.settings) wrapped_text(setting_line(setting));
}

void draw_lines(const Look& look, const SideBySideAnswer& answer, CommandQueue& commands) {
  const Holders::By by = answer.held_by.value_or(Holders::By::code);
  bold_text("What changed, by " + std::string(by == Holders::By::code ? "line" : text_from_by(by)));
  if (!answer.held_by)
    return dim_text("Nothing that both files say of their blocks: one has lines of your code, the other has not.");
  if (answer.lines.empty()) return dim_text("The same on both sides.");
  if (!ImGui::BeginTable("lines", 4, ImGuiTableFlags_RowBg)) return;
  constexpr ColumnSetup columns[] = {
      {"B - A", 110}, {"A", 90, 1}, {"B", 90, 1}, {"What", 120, 0, ImGuiTableColumnFlags_WidthStretch}};
  set_up_table_columns(look, columns);
  table_headers(0, 3);
  const double most = static_cast<double>(std::max<std::int64_t>(1, std::abs(answer.lines.front().change())));
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(answer.lines.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      const HeldOnSides& line = answer.lines[static_cast<std::size_t>(i)];
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      ImGui::PushID(i);
      bar_cell(look, static_cast<double>(std::abs(line.change())) / most, delta_text_from_bytes(line.change()),
               look.role(line.change() > 0 ? Role::grown : Role::shrunk));
      ImGui::TableNextColumn();
      right_text(text_from_bytes(line.a));
      ImGui::TableNextColumn();
      right_text(text_from_bytes(line.b));
      ImGui::TableNextColumn();
      if (ImGui::Selectable(line.name.c_str(), false, ImGuiSelectableFlags_SpanAllColumns) && !line.where.empty())
        commands.push(command::add_filter, line.where);
      if (!line.where.empty()) tooltip("Click to filter this side to it");
      ImGui::PopID();
    }
  ImGui::EndTable();
}

// Settings and lines on the left, figures on the right, or below each other if there is not enough room.
void draw_answer(const Look& look, const SideBySideAnswer& answer, CommandQueue& commands) {
  const HeapComparison& heaps = answer.heaps;
  const float all = ImGui::GetContentRegionAvail().x, least = ImGui::GetFontSize() * 30;
  const bool has_room = all >= 2 * least;
  ImGui::BeginChild("words", {has_room ? all - least - ImGui::GetStyle().ItemSpacing.x : 0, 0},
                    has_room ? 0 : ImGuiChildFlags_AutoResizeY);
  draw_settings(answer);
  ImGui::Spacing();
  for (const std::string& sentence : heaps.sentences) {
    ImGui::Bullet();
    wrapped_text(sentence);
  }
  ImGui::Spacing();
  draw_lines(look, answer, commands);
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
  draw_answer(Look(state), *state.answers().side_by_side.value, commands);
  if (take_copy(state, ViewKind::side_by_side, view.copy_seen))
    copy_table(state, table_from_side_by_side(*state.answers().side_by_side.value), commands);
}

std::unique_ptr<DrawnView> make_side_by_side() {
  return make_view(draw_side_by_side);
}

}  // namespace hbmscope::gui
