// What the colours of a picture of addresses are, in one line.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "app/gui/core/heap_pieces.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {

// Has the entry a frame, and what would a click look for? Empty: nothing, it only stands out.
struct LegendMark {
  bool is_chosen = false;
  std::string_view where;
};

// With bytes and blocks, as the entries have them; a pick's numbers are theirs. `mark_of`: by number; none: nothing can
// be chosen.
LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<LegendMark(std::size_t)>& mark_of = {}, float room_behind = 0);

}  // namespace hbmscope::gui
