// The legend of the heap map and of Addresses over time, in one line.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "app/gui/core/heap_spans.h"
#include "app/gui/look/legend_line.h"

namespace hbmscope::gui {

// Whether an entry is framed, and the filter that a click sets. If `where` is empty, a click only highlights the entry.
struct LegendMark {
  bool is_chosen = false;
  std::string_view where;
};

// Shows the bytes and blocks of each entry. A pick is the index of an entry. `mark_of` takes an index; without it,
// entries can't be selected. `patterns` follow the entries: what is not a colour.
LegendPick draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                           const std::vector<ShadeEntry>& entries,
                           const std::function<LegendMark(std::size_t)>& mark_of = {}, float room_behind = 0,
                           std::span<const LegendEntry> patterns = {});

}  // namespace hbmscope::gui
