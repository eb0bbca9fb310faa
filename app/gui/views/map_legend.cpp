#include "app/gui/views/map_legend.h"

#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {

void draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                     const std::vector<ShadeEntry>& entries) {
  const float side = look.px(12), line = ImGui::GetTextLineHeight(), gap = look.px(14);
  const float right = ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const auto entry = [&](const std::string& name, ImU32 color, int id, std::string_view more, bool is_last,
                         bool is_outline = false) {
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
    draw.AddRectFilled({at.x, top}, {at.x + side, top + side}, is_outline ? look.role(Role::free) : color);
    draw.AddRect({at.x, top}, {at.x + side, top + side}, is_outline ? color : look.role(Role::dim_text, 0.5F));
    draw.AddText({at.x + side + look.px(5), at.y}, look.role(Role::dim_text), name.c_str());
    tooltip(more);
    return true;
  };
  int id = 0;
  entry(knows_regions ? "free" : "not identified", look.role(knows_regions ? Role::free : Role::not_identified), id++,
        knows_regions ? "An empty stretch of full height is contiguous free memory."
                      : "The source does not tell what is free.",
        false);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ShadeEntry& one = entries[i];
    const std::string sum = text_from_bytes(static_cast<std::int64_t>(one.bytes));
    const ImU32 color = look.color(color_of_shade(look.theme, coloring, one.shade));
    if (entry(one.name + "  " + sum, color, id++,
              one.name + ": " + sum + " in " + text_from_count(static_cast<std::int64_t>(one.blocks)) + " blocks",
              i + 1 == entries.size(), coloring == HeapColoring::change && one.shade == change_shade::gone))
      continue;
    ImGui::SameLine(0, gap);
    dim_text("+ " + std::to_string(entries.size() - i) + " more");
    std::string rest;
    for (std::size_t j = i; j < entries.size(); ++j)
      rest +=
          (j == i ? "" : "\n") + entries[j].name + ": " + text_from_bytes(static_cast<std::int64_t>(entries[j].bytes));
    tooltip(rest);
    break;
  }
}

}  // namespace hbmscope::gui
