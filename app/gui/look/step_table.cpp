#include "app/gui/look/step_table.h"

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {

void draw_step_table(const Look& look, const char* id, const char* title, const PowerHistogram& histogram,
                     StepUnit unit) {
  bold_text(title);
  const auto steps = histogram.steps();
  if (steps.empty()) return dim_text("none");
  std::uint64_t most = 1;
  for (const PowerHistogram::Step& step : steps) most = std::max(most, step.bytes);
  if (!ImGui::BeginTable(id, 3, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("From", ImGuiTableColumnFlags_WidthFixed, look.px(72));
  ImGui::TableSetupColumn("Count", ImGuiTableColumnFlags_WidthFixed, look.px(64));
  ImGui::TableSetupColumn("Bytes", ImGuiTableColumnFlags_WidthStretch, 1);
  table_headers(0, 3);
  for (const PowerHistogram::Step& step : steps) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    right_text(text_from_begin(step, unit));
    tooltip(text_from_step(step, unit));
    ImGui::TableNextColumn();
    right_text(text_from_count(static_cast<std::int64_t>(step.count)));
    ImGui::TableNextColumn();
    bar_cell(look, static_cast<double>(step.bytes) / static_cast<double>(most),
             text_from_bytes(static_cast<std::int64_t>(step.bytes)), look.bar());
  }
  ImGui::EndTable();
}

}  // namespace hbmscope::gui
