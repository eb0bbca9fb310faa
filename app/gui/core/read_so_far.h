// How much of the recorded data was read. The status line shows it and links to Import.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

struct ReadSoFar {
  // "all 6,486 events and 2 marks"; "2,104 of 2,200 events, 96 lost, 1 block damaged"
  std::string words;
  bool is_whole = true;
};

// For a source with a trace. The events are those that Import and `report` count; markers and counters are listed
// separately.
ReadSoFar read_so_far(const Source& source);

}  // namespace hbmscope::gui
