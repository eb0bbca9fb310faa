// Where the window runs. A page in a browser opens files; it has no processes, no devices and no folders of its own.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

enum class Host : std::uint8_t { desktop, browser };

}  // namespace hbmscope::gui
