// What the colours of a picture of addresses are, in one line.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "app/gui/core/heap_pieces.h"
#include "app/gui/views/theme.h"

namespace hbmscope::gui {

// Entries by their number.
struct LegendPick {
  std::optional<std::size_t> hovered, clicked;
};

// With bytes and blocks, as the entries have them; what does not fit into the line is named in the tooltip of the last
// entry. `is_chosen`: has it a frame? None: nothing can be chosen.
LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<bool(const ShadeEntry&)>& is_chosen = {});

}  // namespace hbmscope::gui
