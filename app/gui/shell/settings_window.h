// What a person can set for all files: theme, size of the text, editor.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct SettingsWindowState {
  std::string editor;  // As typed so far.
  bool was_open = false;
};

void draw_settings(const AppState& state, SettingsWindowState& window, CommandQueue& commands);

}  // namespace hbmscope::gui
