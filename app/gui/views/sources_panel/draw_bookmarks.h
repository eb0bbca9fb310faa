// The bookmarks of a file, below it in Sources: a click goes there, and the note is typed in its row.
#pragma once

#include <cstdint>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct BookmarksState {
  std::uint64_t edited = 0;  // Whose note is being typed. 0 if there is none.
  std::string typed;
  bool has_keyboard = false;  // The field got it.
};

void draw_bookmarks(const AppState& state, const Source& source, BookmarksState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
