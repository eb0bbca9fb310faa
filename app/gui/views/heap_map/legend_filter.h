// A legend's entry as a part of the filter of all blocks: the words for its blocks, and how they come and go beside
// what a person has typed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "app/gui/core/heap_pieces.h"

namespace hbmscope::gui {

// For each entry of the heap's legend; of its blocks alone, where the trace has several heaps. Empty: the language has
// no words for them.
std::vector<std::string> parts_of_legend(const Trace& trace, HeapKey heap, const HeapPieces& pieces);

// Is the part what is looked for, by itself or beside something typed?
bool has_part(std::string_view where, std::string_view part);
// With the part where it is not there, without it where it is; of `parts`, the legend's own, no other one stays. What
// was typed stays.
std::string toggle_part(std::string_view where, std::span<const std::string> parts, std::string_view part);

}  // namespace hbmscope::gui
