// The theme that the desktop is set to.
#pragma once

#include <optional>

#include "app/gui/core/palette.h"

namespace hbmscope::gui {

// Asks the desktop's portal, GNOME's settings or macOS, by their own programs; takes up to two seconds. Nothing where
// none of them is there or answers.
std::optional<Theme> find_system_theme();

}  // namespace hbmscope::gui
