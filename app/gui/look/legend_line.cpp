#include "app/gui/look/legend_line.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

struct Sizes {
  float side, before_words, gap;
};

float width_of(const Sizes& sizes, const LegendEntry& entry) {
  return sizes.side + sizes.before_words + ImGui::CalcTextSize(entry.words.c_str()).x;
}

// The entries with the most weight that fit together with the text about the others.
std::vector<bool> choose_shown(const Sizes& sizes, std::span<const LegendEntry> entries, float room) {
  std::vector<bool> shown(entries.size(), true);
  float all = -sizes.gap;
  for (const LegendEntry& entry : entries) all += width_of(sizes, entry) + sizes.gap;
  if (all <= room) return shown;
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return entries[a].weight > entries[b].weight; });
  float left = room - ImGui::CalcTextSize("+ 99 more").x;
  for (const std::size_t i : order) {
    const float needed = width_of(sizes, entries[i]) + sizes.gap;
    shown[i] = needed <= left;
    if (shown[i]) left -= needed;
  }
  return shown;
}

void draw_swatch(ImDrawList& draw, const Look& look, const LegendEntry& entry, ImVec2 from, ImVec2 to) {
  const bool is_full = entry.swatch == Swatch::full;
  if (entry.swatch == Swatch::line) {
    const float middle = std::floor((from.y + to.y) / 2);
    draw.AddRectFilled({from.x, middle - 1}, {to.x, middle + 1}, entry.color);
    return;
  }
  draw.AddRectFilled(from, to, is_full ? entry.color : look.role(Role::free));
  if (entry.swatch == Swatch::hatch) draw_hatch(draw, look, from, to, entry.color);
  if (entry.swatch == Swatch::stripes)
    for (float y = from.y + 1; y < to.y; y += 4) draw.AddRectFilled({from.x, y}, {to.x, y + 2}, entry.color);
  if (entry.swatch == Swatch::dots)
    for (float y = from.y + 1; y < to.y; y += 4)
      for (float x = from.x + 1; x < to.x; x += 4) draw.AddRectFilled({x, y}, {x + 1, y + 1}, entry.color);
  draw.AddRect(from, to, entry.swatch == Swatch::outline ? entry.color : look.role(Role::dim_text, 0.5F));
}

void draw_entry(const Look& look, const Sizes& sizes, const LegendEntry& entry) {
  const float line = ImGui::GetTextLineHeight(), width = width_of(sizes, entry);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(entry.id.c_str(), {width, line});
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float top = at.y + (line - sizes.side) / 2;
  const ImVec2 from{at.x, top}, to{at.x + sizes.side, top + sizes.side};
  draw_swatch(draw, look, entry, from, to);
  draw.AddText({at.x + sizes.side + sizes.before_words, at.y}, look.role(entry.is_chosen ? Role::text : Role::dim_text),
               entry.words.c_str());
  if (entry.is_chosen)
    draw.AddRect({at.x - look.px(4), at.y - look.px(1)}, {at.x + width + look.px(4), at.y + line + look.px(1)},
                 look.role(Role::text), look.px(2));
}

}  // namespace

LegendPick draw_legend_line(const Look& look, std::span<const LegendEntry> entries, float room_behind) {
  const Sizes sizes{look.px(12), look.px(5), look.px(14)};
  const auto shown = choose_shown(sizes, entries, ImGui::GetContentRegionAvail().x - room_behind);
  LegendPick pick;
  std::size_t others = 0;
  std::string names;
  bool is_first = true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!shown[i]) {
      ++others;
      names += (names.empty() ? "" : "\n") + entries[i].words;
      continue;
    }
    if (!is_first) ImGui::SameLine(0, sizes.gap);
    is_first = false;
    draw_entry(look, sizes, entries[i]);
    if (ImGui::IsItemHovered()) pick.hovered = i;
    if (ImGui::IsItemClicked()) pick.clicked = i;
    tooltip(entries[i].tip);
  }
  if (others == 0) return pick;
  if (!is_first) ImGui::SameLine(0, sizes.gap);
  dim_text("+ " + std::to_string(others) + " more");
  tooltip(names);
  return pick;
}

}  // namespace hbmscope::gui
