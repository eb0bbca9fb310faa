// The import statistics: how much was read, what was repaired or left out, and what to do about it.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct ImportState {
  std::uint64_t copy_seen = 0;
};

// The meaning of a row that only counts something, as a sentence. Empty if the row has its own text or needs none.
std::string_view meaning_of(const ImportStatistics& import, const ImportStatistic& row);

void draw_import(const AppState& state, ImportState& import, CommandQueue& commands);

}  // namespace hbmscope::gui
