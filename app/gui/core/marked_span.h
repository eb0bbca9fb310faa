// Finds markers of the program and goes to a span of them (NVTX, annotations, steps): it becomes the selected range.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct AppState;

// Shows the span that the marker begins; of any other marker only its time.
void show_marked_span(AppState& state, const MarkPlace& place);

// "step 12, 3 of 40, rank 5": a marker that a typed text can mean, the next one of its name.
struct MarkerOffer {
  std::string words;
  bool is_one_of_many = false;
  MarkPlace place;
};
std::vector<MarkerOffer> offer_markers(const AppState& state, const Trace& trace, std::string_view typed,
                                       std::size_t most);

// The name of the span that the range is. Empty: it is none.
std::string name_of_marked_range(const Trace& trace, std::size_t stream, const TimeRange& range);

// From a selected span to the next one of its name (SpanNames) in its stream, else to the next outermost one
// after the shown time. Says so where there is none.
void go_to_marked_span(AppState& state, bool forward);

}  // namespace hbmscope::gui
