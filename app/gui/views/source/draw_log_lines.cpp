#include "app/gui/views/source/draw_log_lines.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {
namespace {

void draw_line(const Look& look, const log::LogExcerpt& log, const log::LogExcerpt::Line& line) {
  ImGui::TableNextRow(0, look.px(20));
  if (line.number == log.focus) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, look.role(Role::parameters, 0.22F));
  ImGui::TableNextColumn();
  right_text(text_from_count(line.number), true);
  ImGui::TableNextColumn();
  text(line.text);
}

int row_of_focus(const log::LogExcerpt& log) {
  const auto focus = std::find_if(log.lines.begin(), log.lines.end(),
                                  [&](const log::LogExcerpt::Line& line) { return line.number == log.focus; });
  return static_cast<int>(focus - log.lines.begin());
}

}  // namespace

void draw_log_lines(const AppState& state, SourceViewState& view, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().log_lines, "the log")) return;
  const auto answer = state.answers().log_lines.value;
  const log::LogExcerpt& log = *answer;
  const Look look(state);
  ImGui::AlignTextToFramePadding();
  text(shortened(log.file, ImGui::GetContentRegionAvail().x * 0.6F, true));
  tooltip(log.file);
  ImGui::SameLine();
  dim_text("around line " + text_from_count(log.focus));
  draw_copy_menu(ViewKind::source, commands);
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("log", 2, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("Line", ImGuiTableColumnFlags_WidthFixed, look.px(72));
    ImGui::TableSetupColumn("Log");
    table_headers(0, 1);
    const int focus = view.shown_log == answer ? -1 : row_of_focus(log);  // -1: it was scrolled to before.
    view.shown_log = answer;
    ImGui::PushFont(mono_font(), 0.0F);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(log.lines.size()));
    if (focus >= 0) clipper.IncludeItemByIndex(focus);
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_line(look, log, log.lines[static_cast<std::size_t>(i)]);
        if (i == focus) ImGui::SetScrollHereY(0.4F);
      }
    ImGui::PopFont();
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::source, view.copy_seen)) copy_table(state, table_from_log(log), commands);
}

}  // namespace hbmscope::gui
