// Assigns shades to a heap's blocks by one of their properties, and builds the legend. The rows of coloring.cpp refer
// to these functions.
#pragma once

#include "app/gui/core/coloring.h"
#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {

// Names (lines of code, tags, streams) have the hues of the trace; all others are neutral.
void shade_by_name(HeapSpans& map, const ColoringInput& input, const Coloring& coloring);
void shade_by_steps(HeapSpans& map, const ColoringInput& input, const StepsOfBlocks& steps);

// "size>=1 size<2": values of a field from `first` up to, but not including, `end`. An empty string means no limit.
std::string where_between(std::string_view field, const std::string& first, const std::string& end);

void shade_by_age(HeapSpans& map, const ColoringInput& input);
void shade_by_state(HeapSpans& map, const ColoringInput& input);
void shade_by_waste(HeapSpans& map, const ColoringInput& input);

// Lifetime from the allocation to the event that ends it, in time if the stream has times, otherwise in events. Unknown
// for a block that lives to the end or that is older than the stream.
void shade_by_lifetime(HeapSpans& map, const ColoringInput& input);

// By what happened to the blocks between the pinned time and the selected time.
void shade_by_change(HeapSpans& map, const ColoringInput& input);

}  // namespace hbmscope::gui
