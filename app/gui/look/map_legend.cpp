#include "app/gui/look/map_legend.h"

#include <limits>
#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/heap_raster.h"

namespace hbmscope::gui {

LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<LegendMark(std::size_t)>& mark_of, float room_behind,
                           std::span<const LegendEntry> patterns) {
  std::vector<LegendEntry> shown;
  shown.push_back({"##free", knows_regions ? "free" : "unknown",
                   knows_regions ? "An empty stretch of full height is contiguous free memory."
                                 : "The source does not report free memory.",
                   look.role(knows_regions ? Role::free : Role::not_identified), std::numeric_limits<double>::max(),
                   Swatch::full, false});
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ShadeEntry& one = entries[i];
    const LegendMark mark = mark_of ? mark_of(i) : LegendMark{};
    const std::string bytes = text_from_bytes(one.bytes);
    shown.push_back(
        {one.name, one.name + "  " + bytes,
         one.name + ": " + bytes + " in " + text_from_count(static_cast<std::int64_t>(one.blocks)) + " blocks" +
             (mark.where.empty() ? "" : "\nClick to show only these in all views (" + std::string(mark.where) + ")"),
         look.color(color_of_shade(look.theme, coloring, one.shade)), static_cast<double>(one.bytes),
         one.shade == row_of(coloring).gone_shade ? Swatch::outline : Swatch::full, mark.is_chosen});
  }
  shown.insert(shown.end(), patterns.begin(), patterns.end());
  LegendPick pick = draw_legend_line(look, shown, room_behind);
  // The first one is free memory, which is not in `entries`.
  const auto number = [&](std::optional<std::size_t> picked) {
    return picked && *picked > 0 && *picked <= entries.size() ? std::optional(*picked - 1) : std::nullopt;
  };
  return {number(pick.hovered), number(pick.clicked)};
}

}  // namespace hbmscope::gui
