#include "app/gui/views/map_legend.h"

#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {

namespace {

// Little squares with words, from left to right.
class LegendLine {
 public:
  explicit LegendLine(const Look& look)
      : look_(look), right_(ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x) {}

  struct Entry {
    std::string id, words;
    ImU32 color = 0;
    bool is_outline = false, is_chosen = false, is_last = false;
  };
  // False where there is no room for it any more.
  bool draw(const Entry& entry) {
    const float side = look_.px(12), line = ImGui::GetTextLineHeight(), gap = look_.px(14);
    const float width = side + look_.px(5) + ImGui::CalcTextSize(entry.words.c_str()).x;
    const float x = is_first_ ? ImGui::GetCursorScreenPos().x : ImGui::GetItemRectMax().x + gap;
    const float room = entry.is_last ? 0 : look_.px(90);
    if (!is_first_ && x + width + room > right_) return false;
    if (!is_first_) ImGui::SameLine(0, gap);
    is_first_ = false;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::InvisibleButton(entry.id.c_str(), {width, line});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float top = at.y + (line - side) / 2;
    const ImVec2 from{at.x, top}, to{at.x + side, top + side};
    draw.AddRectFilled(from, to, entry.is_outline ? look_.role(Role::free) : entry.color);
    draw.AddRect(from, to, entry.is_outline ? entry.color : look_.role(Role::dim_text, 0.5F));
    draw.AddText({at.x + side + look_.px(5), at.y}, look_.role(entry.is_chosen ? Role::text : Role::dim_text),
                 entry.words.c_str());
    if (entry.is_chosen)
      draw.AddRect({at.x - look_.px(4), at.y - look_.px(1)}, {at.x + width + look_.px(4), at.y + line + look_.px(1)},
                   look_.role(Role::text), look_.px(2));
    return true;
  }

 private:
  const Look& look_;
  float right_;
  bool is_first_ = true;
};

std::string bytes_of(const ShadeEntry& entry) {
  return text_from_bytes(entry.bytes);
}

}  // namespace

LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<bool(const ShadeEntry&)>& is_chosen) {
  LegendLine line(look);
  LegendPick pick;
  line.draw({"##free", knows_regions ? "free" : "not identified",
             look.role(knows_regions ? Role::free : Role::not_identified), false, false, false});
  tooltip(knows_regions ? "An empty stretch of full height is contiguous free memory."
                        : "The source does not tell what is free.");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ShadeEntry& one = entries[i];
    const bool is_gone = coloring == HeapColoring::change && one.shade == change_shade::gone;
    if (line.draw({one.name, one.name + "  " + bytes_of(one),
                   look.color(color_of_shade(look.theme, coloring, one.shade)), is_gone, is_chosen && is_chosen(one),
                   i + 1 == entries.size()})) {
      if (ImGui::IsItemHovered()) pick.hovered = i;
      if (ImGui::IsItemClicked()) pick.clicked = i;
      tooltip(one.name + ": " + bytes_of(one) + " in " + text_from_count(static_cast<std::int64_t>(one.blocks)) +
              " blocks" +
              (is_chosen && !one.where.empty() ? "\nClick: only these, in all views (" + one.where + ")" : ""));
      continue;
    }
    ImGui::SameLine(0, look.px(14));
    dim_text("+ " + std::to_string(entries.size() - i) + " more");
    std::string rest;
    for (std::size_t j = i; j < entries.size(); ++j)
      rest += (j == i ? "" : "\n") + entries[j].name + ": " + bytes_of(entries[j]);
    tooltip(rest);
    break;
  }
  return pick;
}

}  // namespace hbmscope::gui
