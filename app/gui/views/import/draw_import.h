// What reading the file met: how much was read, what was repaired or left out, and what to do about it.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct ImportState {
  std::uint64_t copy_seen = 0;
};

// What a row that only counts what was read says, in a sentence; empty where the row has its own words, or none.
std::string_view meaning_of(const ImportStatistics& import, const ImportStatistic& row);

void draw_import(const AppState& state, ImportState& import, CommandQueue& commands);

}  // namespace hbmscope::gui
