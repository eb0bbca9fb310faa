// An entry of the legend as a part of the filter of blocks: the terms that find its blocks, added to what a person has
// typed and removed again.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// For each entry of the heap's legend, the terms that find its blocks; limited to this heap where the trace has
// several. Empty: the filter language can't say it.
std::vector<std::string> parts_of_legend(const Trace& trace, HeapKey heap, const HeapPieces& pieces);

// Whether the filter has this part, alone or with something typed.
bool has_part(std::string_view where, std::string_view part);
// Adds the part where it is missing, and removes it where it is there. Other `parts` of the legend are removed; what
// was typed stays.
std::string toggle_part(std::string_view where, std::span<const std::string> parts, std::string_view part);

}  // namespace hbmscope::gui
