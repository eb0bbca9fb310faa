// The settings of two jobs that differ. They come before any comparison of bytes, because most regressions are one of
// these.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// "torch.allocator.expandable_segments: False > True".
std::string setting_line(const SettingChange& setting);

// Draws the times at which two traces are compared, and the settings that differ; nothing for profiles.
void draw_diff_settings(const AppState& state, const Look& look);

}  // namespace hbmscope::gui
