// The legend of a heap map or of addresses over time, in one line.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "app/gui/core/heap_pieces.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {

// Whether the entry is framed, and the filter that a click sets. Empty: a click only highlights it.
struct LegendMark {
  bool is_chosen = false;
  std::string_view where;
};

// Shows bytes and blocks of each entry; a pick has the number of an entry. `mark_of`: by number; without it, entries
// can't be chosen.
LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<LegendMark(std::size_t)>& mark_of = {}, float room_behind = 0);

}  // namespace hbmscope::gui
