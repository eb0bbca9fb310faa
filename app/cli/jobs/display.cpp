#include "app/cli/jobs/display.h"

#include <cstdlib>
#include <initializer_list>

namespace hbmscope::cli {

bool has_display() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != 0) return true;
  }
  return false;
}

}  // namespace hbmscope::cli
