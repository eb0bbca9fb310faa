// The line under the menu: the filter of all views (the language of --where, checked while typing), Find, and how
// frames are grouped and weighted.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/shell/filter_offers_list.h"

namespace hbmscope::gui {

struct FilterLineState {
  std::string where, find;               // The text of the fields; applied on Enter, or when they lose the focus.
  std::string where_seen, find_seen;     // The last values seen in the state.
  SourceId judged_for = SourceId::none;  // The source that the filter was checked for.
  bool judged_as_trace = false;
  std::string error;  // The error of the filter while typing.
  std::uint64_t filter_seen = 0, find_serial_seen = 0;
  FilterOffersState offers;
  bool wants_keyboard = false;  // The field does, after a click on an offer.
};

void draw_filter_line(const AppState& state, FilterLineState& line, CommandQueue& commands);

}  // namespace hbmscope::gui
