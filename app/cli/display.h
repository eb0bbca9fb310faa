// Whether there is a display to open a window on.
#pragma once

namespace hbmscope::cli {

// X11 or Wayland, as the environment says.
bool has_display();

}  // namespace hbmscope::cli
