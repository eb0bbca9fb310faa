#include "app/gui/look/device_bar.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <imgui.h>

#include "app/gui/look/drawing.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {
namespace {

Role role_of(std::string_view part) {
  constexpr std::pair<std::string_view, Role> roles[] = {
      {"requested", Role::several},       {"rounding", Role::rounding},
      {"pool_free", Role::same},          {"outside", Role::outside_pool},
      {"process", Role::other_processes}, {"kept", Role::not_identified},
      {"unseen", Role::unexplained},      {"free", Role::free},
  };
  for (const auto& [name, role] : roles)
    if (name == part) return role;
  return Role::unexplained;
}

}  // namespace

void draw_stacked_bar(const Look& look, const Table& table) {
  const float height = ImGui::GetTextLineHeight() + look.px(6), width = ImGui::GetContentRegionAvail().x - look.px(14);
  const ImVec2 from = ImGui::GetCursorScreenPos();
  ImGui::Dummy({width, height});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto column_of = [&](const auto& is_wanted) {
    return static_cast<std::size_t>(std::find_if(table.columns.begin(), table.columns.end(), is_wanted) -
                                    table.columns.begin());
  };
  const std::size_t part = column_of([](const Column&one) { return one.key == "part"; }),
                    bytes = column_of([](const Column&one) { return one.share > 0; }), name = table.columns.size() - 1;
  std::vector<LegendEntry> entries;
  double at = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const double share = find_share(table, row, bytes).value_or(0);
    const float left = from.x + static_cast<float>(at) * width,
                right = std::max(left + 1, from.x + static_cast<float>(at + share) * width);
    const std::string kind = text_of_cell(table, row, part), words = text_of_cell(table, row, name);
    const Role role = role_of(kind);
    // What nobody reports is hatched: it is no kind of memory, and no colour of one may be louder than those that are.
    const bool is_unseen = role == Role::unexplained;
    draw.AddRectFilled({left, from.y}, {right, from.y + height}, look.role(is_unseen ? Role::free : role));
    if (is_unseen) draw_hatch(draw, look, {left, from.y}, {right, from.y + height}, look.role(role));
    at += share;
    entries.push_back({words, words + "  " + text_of_cell(table, row, bytes), "", look.role(role), share,
                       is_unseen            ? Swatch::hatch
                       : role == Role::free ? Swatch::outline
                                            : Swatch::full,
                       false});
  }
  draw.AddRect(from, {from.x + width, from.y + height}, look.role(Role::dim_text));
  draw_legend_line(look, entries);
}

}  // namespace hbmscope::gui
