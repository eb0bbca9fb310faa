#include "app/gui/views/top/draw_top_groups.h"

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"

namespace hbmscope::gui {
namespace {

struct Row {
  std::string name, place, through;
  std::int64_t bytes = 0, count = 0;
  Shade shade = several_shade;
  FrameKey frame;     // Of a line; selects it.
  std::string where;  // Of a category: a filter term.
};

std::size_t count_of(TopBy by, const SummaryAnswer& summary) {
  return by == TopBy::category ? summary.categories.size() : summary.user_code.size();
}

Row row_from(const CategoryRow& one) {
  Row row;
  row.name = text_from_category(one.category);
  row.bytes = static_cast<std::int64_t>(one.bytes);
  row.count = static_cast<std::int64_t>(one.blocks);
  row.shade = shade_of_category(one.category);
  row.where = "category=" + where_quote(row.name);
  return row;
}

Row row_from(const UserCodeRow& one, const TraceColors* colors) {
  Row row;
  row.bytes = one.weight.bytes;
  row.count = one.weight.count;
  row.through = one.through;
  if (one.has_no_user_code()) {
    row.name = one.label();
    return row;
  }
  row.name = one.frame.function;
  row.place = location_text(one.frame);
  row.frame = key_of_own_line(one.frame);
  if (colors != nullptr)
    row.shade = colors->hues_of(HeapColoring::user_code)
                    .shade_of(own_line_name(one.frame.function, one.frame.file, one.frame.line));
  return row;
}

// There may be thousands of rows, so a frame makes only those that it shows.
Row row_at(const AppState& state, TopBy by, const SummaryAnswer& summary, std::size_t i) {
  if (by == TopBy::category) return row_from(summary.categories[i]);
  return row_from(summary.user_code[i], state.context().colors.get());
}

// The colour that the row has in the pictures.
void draw_swatch(const AppState& state, const Look& look, TopBy by, Shade shade) {
  if (state.context().colors == nullptr) return;
  const HeapColoring coloring = by == TopBy::category ? HeapColoring::category : HeapColoring::user_code;
  const float side = look.px(10);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float top = at.y + (ImGui::GetTextLineHeight() - side) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, top}, {at.x + side, top + side},
                                            look.color(color_of_shade(look.theme, coloring, shade)), look.px(2));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side + look.px(6));
}

void draw_row(const AppState& state, const Look& look, TopBy by, const Row& row, const ProfileView& view,
              CommandQueue& commands) {
  ImGui::TableNextRow(0, look.px(24));
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorPos();
  const bool is_selected = row.where.empty() ? !row.frame.empty() && state.position().selection == row.frame
                                             : state.position().request.where.find(row.where) != std::string::npos;
  if (ImGui::Selectable("##row", is_selected,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap)) {
    if (is_selected && row.where.empty())
      commands.push(CommandId::clear_selection);
    else if (!row.where.empty())
      commands.push(command::add_filter, row.where);
    else if (!row.frame.empty())
      commands.select(row.frame);
  }
  ImGui::SetCursorPos(at);
  const double share =
      view.total.bytes == 0 ? 0 : static_cast<double>(row.bytes) / static_cast<double>(view.total.bytes);
  bar_cell(look, share, amount_text(view, row.bytes), look.bar());
  tooltip(exact_amount_text(view, row.bytes));
  ImGui::TableNextColumn();
  right_text(text_from_share(row.bytes, view.total.bytes), true);
  ImGui::TableNextColumn();
  right_text(text_from_count(row.count));
  ImGui::TableNextColumn();
  draw_swatch(state, look, by, row.shade);
  cell_text(row.name, row.frame.empty() && row.where.empty());
  ImGui::TableNextColumn();
  dim_text(shortened(row.place, ImGui::GetContentRegionAvail().x, true));
  if (!row.frame.file.empty()) tooltip(row.frame.file);
  ImGui::TableNextColumn();
  cell_text(row.through, true);
}

TextTable table_of(const AppState& state, TopBy by, const SummaryAnswer& summary, const ProfileView& view) {
  TextTable table;
  table.columns = {{"bytes", true}, {"share", true},  {"count", true},
                   {"name", false}, {"where", false}, {"through", false}};
  for (std::size_t i = 0; i < count_of(by, summary); ++i) {
    const Row row = row_at(state, by, summary, i);
    table.rows.push_back({{amount_text(view, row.bytes), std::to_string(row.bytes)},
                          {text_from_share(row.bytes, view.total.bytes), text_from_share(row.bytes, view.total.bytes)},
                          {text_from_count(row.count), std::to_string(row.count)},
                          {row.name, row.name},
                          {row.place, row.place},
                          {row.through, row.through}});
  }
  return table;
}

}  // namespace

void draw_top_groups(const AppState& state, TopState& top, TopBy by, const SummaryAnswer& summary,
                     CommandQueue& commands) {
  const auto& view = state.answers().view.value;
  if (view == nullptr) return;
  const Look look(state);
  const std::size_t count = count_of(by, summary);
  ImGui::AlignTextToFramePadding();
  dim_text(text_from_count(static_cast<std::int64_t>(count)) + (by == TopBy::category ? " categories, " : " lines, ") +
           amount_text(*view, view->selected.bytes) + "; % " + base_text(*view) + in_scope(state));
  draw_copy_menu(ViewKind::top, commands);
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                    ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (ImGui::BeginTable("top groups", 6, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    const ColumnSetup columns[] = {
        {"Bytes", 104, 0, 0},
        {"%", 66, 4, 0},
        {"Count", 66, 3, 0},
        {by == TopBy::category ? "Category" : "Function", 130, 0, ImGuiTableColumnFlags_WidthStretch, 3},
        {"Where", 90, 1, ImGuiTableColumnFlags_WidthStretch, 2},
        {"Through", 90, 2, ImGuiTableColumnFlags_WidthStretch, 1}};
    set_up_table_columns(look, columns);
    table_headers(0, 3);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(count));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        ImGui::PushID(i);
        draw_row(state, look, by, row_at(state, by, summary, static_cast<std::size_t>(i)), *view, commands);
        ImGui::PopID();
      }
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::top, top.copy_seen)) copy_table(state, table_of(state, by, summary, *view), commands);
}

}  // namespace hbmscope::gui
