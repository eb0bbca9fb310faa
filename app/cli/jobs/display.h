// Whether there is a display to open a window on.
#pragma once

namespace hbmscope::cli {

// X11 or Wayland, according to the environment.
bool has_display();

}  // namespace hbmscope::cli
