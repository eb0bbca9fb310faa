// A picture of the window once it has come to rest: everything read, every answer there, the layout settled.
#pragma once

#include <string>

#include "app/gui/platform/session.h"

namespace hbmscope::gui {

// Draws until nothing is pending and three frames in a row are the same.
Picture draw_settled(Session& session);

// Writes the picture in any case. Errors: it can't be written; a file that was to be opened could not be read, as the
// picture then shows too.
Result<int> write_screenshot(Session& session, const std::string& file);

}  // namespace hbmscope::gui
