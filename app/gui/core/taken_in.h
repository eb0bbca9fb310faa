// How much of what a trace's source recorded is here: what stands at the foot of the window, and leads to Import.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

struct TakenIn {
  // "all 6,486 events and 2 marks"; "2,104 of 2,200 events, 96 lost, 1 block damaged"
  std::string words;
  bool is_whole = true;
};

// Of a source that has a trace. The events are those that Import and `report` count; marks and counters are told
// beside.
TakenIn taken_in(const Source& source);

}  // namespace hbmscope::gui
