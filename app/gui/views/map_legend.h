// What the colours of a picture of addresses are, in one line.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "app/gui/core/heap_pieces.h"
#include "app/gui/views/theme.h"

namespace hbmscope::gui {

// Entries by their number.
struct LegendPick {
  std::optional<std::size_t> hovered, clicked;
};

// Has the entry a frame, and what would a click look for? Empty: nothing, it only stands out.
struct LegendMark {
  bool is_chosen = false;
  std::string_view where;
};

// With bytes and blocks, as the entries have them; what does not fit into the line is named in the tooltip of the last
// entry. `mark_of`: by its number; none: nothing can be chosen.
LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<LegendMark(std::size_t)>& mark_of = {});

}  // namespace hbmscope::gui
