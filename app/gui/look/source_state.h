// The state of a job that is or was watched: in the menu bar for the active one, in Sources for each.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Mark: filled circle, live; ring, held or paused; square, no data arrives or the job has ended.
enum class SourceState { live, held, paused, silent, ended };
// For a job that is or was watched. Only the active one can be held.
SourceState state_of(const AppState& state, const Source& source);
// "live", "no data for 3 s".
std::string text_from_state(const AppState& state, const Source& source);
// "1.2 M events/s".
std::string rate_text(double events_per_second);

// "12 lost".
std::string lost_text(std::uint64_t lost_events);

// Draws the mark of the state in the current line. `text_offset`: the distance of the text from the cursor's y
// position.
void draw_state_mark(const AppState& state, const Source& source, float text_offset);
// State, rate and lost events in one line. Nothing for a file.
void draw_source_state(const AppState& state, const Source& source);

}  // namespace hbmscope::gui
