// How a running job stands, or one that ran: in the head for the one in front, in the list for each.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

// Solid: live. A ring: held or paused. A square: nothing is heard of it, or it has ended.
enum class SourceState { live, held, paused, silent, ended };
// Of one that is or was watched. Held is said of the one in front, which is what the view shows.
SourceState state_of(const AppState& state, const Source& source);
// "live", "not heard of for 3 s".
std::string text_from_state(const AppState& state, const Source& source);
// "1.2 M events/s".
std::string rate_text(double events_per_second);

// "12 lost".
std::string lost_text(std::uint64_t lost_events);

// The mark of the state, in the line that it is called in.
// `text_offset`: how far text stands below the cursor there.
void draw_state_mark(const AppState& state, const Source& source, float text_offset);
// A line of the list: state, rate, what was lost. Nothing of a file.
void draw_source_state(const AppState& state, const Source& source);

}  // namespace hbmscope::gui
