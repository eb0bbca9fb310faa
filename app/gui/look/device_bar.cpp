#include "app/gui/look/device_bar.h"

#include <algorithm>
#include <string>
#include <vector>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {
namespace {

Role role_of(BudgetPart part) {
  switch (part) {
    case BudgetPart::requested: return Role::several;
    case BudgetPart::rounding: return Role::rounding;
    case BudgetPart::pool_free: return Role::same;
    case BudgetPart::outside: return Role::outside_pool;
    case BudgetPart::process: return Role::other_processes;
    case BudgetPart::kept: return Role::not_identified;
    case BudgetPart::unseen: return Role::unexplained;
    case BudgetPart::free: return Role::free;
  }
  return Role::unexplained;
}

}  // namespace

void draw_device_bar(const Look& look, const DeviceBudget& budget) {
  ImGui::Spacing();
  bold_text("All of the device");
  ImGui::SameLine(0, ImGui::GetFontSize());
  dim_text(text_from_bytes(budget.total_bytes) +
           (budget.over_bytes == 0
                ? std::string()
                : ", over by " + text_from_bytes(budget.over_bytes) + ": the sources contradict each other"));
  const float height = ImGui::GetTextLineHeight() + look.px(6), width = ImGui::GetContentRegionAvail().x - look.px(14);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, height});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const double most = static_cast<double>(budget.total_bytes) + static_cast<double>(budget.over_bytes);
  std::vector<LegendEntry> entries;
  double at = 0;
  for (const BudgetRow& row : budget.rows) {
    const double share = static_cast<double>(row.bytes) / most;
    const float left = from.x + static_cast<float>(at) * width,
                right = std::max(left + 1, from.x + static_cast<float>(at + share) * width);
    draw.AddRectFilled({left, from.y}, {right, from.y + height}, look.role(role_of(row.part)));
    at += share;
    entries.push_back({row.name, row.name + "  " + text_from_bytes(row.bytes),
                       row.is_derived ? "The device's memory without all other parts" : "",
                       look.role(role_of(row.part)), share, row.part == BudgetPart::free, false});
  }
  draw.AddRect(from, {from.x + width, from.y + height}, look.role(Role::dim_text));
  draw_legend_line(look, entries);
}

}  // namespace hbmscope::gui
