// A picture of the window in its final state: everything read, every answer ready, the layout settled.
#pragma once

#include <string>

#include "app/gui/platform/session.h"

namespace hbmscope::gui {

// Draws until nothing is pending and three consecutive frames are equal.
Picture draw_settled(Session& session);

// Always writes the picture. Errors: it can't be written, or a requested file could not be read, which the picture also
// shows.
Result<int> write_screenshot(Session& session, const std::string& file);

}  // namespace hbmscope::gui
