// Playing a trace: the selected time of the bound context advances by itself.
#pragma once

#include <chrono>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

void toggle_play(AppState& state);
bool advance_play(AppState& state, std::chrono::steady_clock::time_point now);  // True if something changed.

// For a running job: the visible span of the timeline moves with the end, with the length that the user chose, unless
// the picture is held or the user chose a span that does not reach the end. True if it moved.
bool follow_end(AppState& state);
// After a jump to a time outside the visible span, the span keeps its length and has the time in its middle.
bool keep_moment_in_sight(AppState& state);
// Notes a span that the user chose.
void note_span(AppState& state, TimelineSpan span);

}  // namespace hbmscope::gui
