// What the colours and lines of the timeline mean, in one line above its lanes.
#pragma once

#include <optional>
#include <string>

#include "app/gui/core/commands.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"

namespace hbmscope::gui {

// `bands`: null if they are not known yet. `more` is said behind the entries. Returns the band that only keeps its
// colour while the pointer is on its entry. A click on an entry does what it does in the heap map.
std::optional<Shade> draw_timeline_legend(const AppState& state, const Look& look, const TimelinePicture& picture,
                                          const StackedBands* bands, const TimelineOverlay* overlay,
                                          const std::string& more, CommandQueue& commands);

}  // namespace hbmscope::gui
