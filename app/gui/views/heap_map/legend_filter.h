// Turns a legend entry into a part of the block filter: adds the terms that find its blocks to the typed text, and
// removes them again.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/query/chosen_heap.h"
#include "app/gui/core/heap_spans.h"

namespace hbmscope::gui {

// The filter terms of each entry of the heap's legend, restricted to this heap if the trace has several. Empty if the
// filter language has no term for it.
std::vector<std::string> parts_of_legend(const Trace& trace, HeapKey heap, const HeapSpans& spans);

// Whether the filter contains this part, with or without typed text.
bool has_part(std::string_view where, std::string_view part);
// Adds the part if it is missing and removes it if it is there. Other `parts` of the legend are removed; typed text
// stays.
std::string toggle_part(std::string_view where, std::span<const std::string> parts, std::string_view part);

}  // namespace hbmscope::gui
