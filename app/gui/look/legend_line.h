// A legend in one line: coloured squares with names. If there is not enough room, the entries with the most weight are
// shown in their order, and the end of the line says how many more there are; its tooltip names them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "app/gui/look/theme.h"

namespace hbmscope::gui {

enum class Swatch : std::uint8_t { full, outline, hatch, dots, stripes, line };

struct LegendEntry {
  std::string id, words, tip;
  ImU32 color = 0;
  double weight = 0;  // How much of the picture has this colour.
  Swatch swatch = Swatch::full;
  bool is_chosen = false;
};

// Indices of entries.
struct LegendPick {
  std::optional<std::size_t> hovered, clicked;
};

// `room_behind`: the width to keep free at the end of the line.
LegendPick draw_legend_line(const Look& look, std::span<const LegendEntry> entries, float room_behind = 0);

}  // namespace hbmscope::gui
