// The settings that differ between two jobs. They come before any comparison of bytes, because they explain most
// regressions.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// "torch.allocator.expandable_segments: False > True".
std::string setting_line(const SettingChange& setting);

// Draws the compared times of two traces and the settings that differ; nothing for profiles.
void draw_diff_settings(const AppState& state, const Look& look);

}  // namespace hbmscope::gui
