// Coloured squares with names, in one line. Where there is no room for all, the weightiest are shown in their order,
// and the end of the line says how many more there are, with their names in its tooltip.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct LegendEntry {
  std::string id, words, tip;
  ImU32 color = 0;
  double weight = 0;  // How much of the picture has this colour.
  bool is_outline = false, is_chosen = false;
};

// Entries by their number.
struct LegendPick {
  std::optional<std::size_t> hovered, clicked;
};

// `room_behind`: the width to leave free at the end of the line.
LegendPick draw_legend_line(const Look& look, std::span<const LegendEntry> entries, float room_behind = 0);

}  // namespace hbmscope::gui
