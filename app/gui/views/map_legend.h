// What the colours of a picture of addresses are, in one line.
#pragma once

#include <vector>

#include "app/gui/core/heap_pieces.h"
#include "app/gui/views/theme.h"

namespace hbmscope::gui {

// With bytes and blocks, as the entries have them; what does not fit into the line is named in the tooltip of the last
// entry.
void draw_map_legend(const Look& look, bool knows_regions, HeapColoring coloring,
                     const std::vector<ShadeEntry>& entries);

}  // namespace hbmscope::gui
