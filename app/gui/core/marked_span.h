// Goes to a span of the program's markers (NVTX, annotations, steps): it becomes the selected range.
#pragma once

#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct AppState;

// Shows the span that the marker begins; of any other marker only its time.
void show_marked_span(AppState& state, const MarkPlace& place);

// From a selected span to the next one of its name (without numbers) in its stream, else to the next outermost one
// after the shown time. Says so where there is none.
void go_to_marked_span(AppState& state, bool forward);

}  // namespace hbmscope::gui
