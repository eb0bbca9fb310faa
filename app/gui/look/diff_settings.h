// What two jobs ran under and where that differs: it comes before any comparison of bytes, because most regressions are
// one of these.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/look/theme.h"

namespace hbmscope::gui {

// "torch.allocator.expandable_segments: False > True".
std::string setting_line(const SettingChange& setting);

// Of two traces: at which moments they are compared, and the settings that differ. Draws nothing for profiles.
void draw_diff_settings(const AppState& state, const Look& look);

}  // namespace hbmscope::gui
