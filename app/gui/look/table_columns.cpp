#include "app/gui/look/table_columns.h"

#include <algorithm>
#include <vector>

#include <imgui_internal.h>  // Whether the user hid a column, and how wide a column was dragged.

namespace hbmscope::gui {
namespace {

bool is_name(const ColumnSetup& column) {
  return (column.flags & ImGuiTableColumnFlags_WidthStretch) != 0;
}

bool is_hidden_by_hand(const ImGuiTable& table, int index, const ColumnSetup& column) {
  return table.IsInitializing ? (column.flags & ImGuiTableColumnFlags_DefaultHide) != 0
                              : !table.Columns[index].IsUserEnabled;
}

bool is_sorted_by(const ImGuiTable& table, int index, const ColumnSetup& column) {
  return table.IsInitializing ? (column.flags & ImGuiTableColumnFlags_DefaultSort) != 0
                              : table.Columns[index].SortOrder != -1;
}

}  // namespace

void set_up_table_columns(const Look& look, std::span<const ColumnSetup> columns) {
  const ImGuiTable& table = *ImGui::GetCurrentTable();
  const float padding = 2 * ImGui::GetStyle().CellPadding.x + 1;
  const auto width_of = [&](std::size_t i) {
    const float dragged = is_name(columns[i]) ? 0 : table.Columns[static_cast<int>(i)].WidthRequest;
    return (dragged > 0 ? dragged : look.px(columns[i].width)) + padding;
  };
  std::vector<std::size_t> optional;
  float needed = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (is_hidden_by_hand(table, static_cast<int>(i), columns[i])) continue;
    needed += width_of(i);
    if (columns[i].rank > 0 && !is_sorted_by(table, static_cast<int>(i), columns[i])) optional.push_back(i);
  }
  std::stable_sort(optional.begin(), optional.end(),
                   [&](std::size_t a, std::size_t b) { return columns[a].rank < columns[b].rank; });
  const float room = ImGui::GetContentRegionAvail().x;
  std::vector<bool> is_left_out(columns.size());
  for (; needed > room && !optional.empty(); optional.pop_back()) {
    is_left_out[optional.back()] = true;
    needed -= width_of(optional.back());
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    ImGuiTableColumnFlags flags = columns[i].flags;
    if (!is_name(columns[i])) flags |= ImGuiTableColumnFlags_WidthFixed;
    if (is_left_out[i]) flags |= ImGuiTableColumnFlags_Disabled;
    ImGui::TableSetupColumn(columns[i].title, flags,
                            is_name(columns[i]) ? columns[i].share : look.px(columns[i].width));
  }
}

ImVec2 size_of_last_table(const Look& look) {
  constexpr float rows_at_least = 4;  // Including the header.
  return {0, std::max(ImGui::GetContentRegionAvail().y, rows_at_least * look.px(24))};
}

int columns_that_fit(const Look& look, float width, int most) {
  const float each = look.px(width) + 2 * ImGui::GetStyle().CellPadding.x;
  return std::clamp(static_cast<int>(ImGui::GetContentRegionAvail().x / each), 1, most);
}

}  // namespace hbmscope::gui
