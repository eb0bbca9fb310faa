// Little squares with words, in one line. Where it is too short for all, those that stand for most are shown, in their
// own order, and the last words say how many more there are, with their names in the tooltip.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

struct LegendEntry {
  std::string id, words, tip;
  ImU32 color = 0;
  double weight = 0;  // How much of the picture it stands for.
  bool is_outline = false, is_chosen = false;
};

// Entries by their number.
struct LegendPick {
  std::optional<std::size_t> hovered, clicked;
};

// `room_behind`: what is left free at the line's end.
LegendPick draw_legend_line(const Look& look, std::span<const LegendEntry> entries, float room_behind = 0);

}  // namespace hbmscope::gui
