// What a picture writes into a block.
#pragma once

#include <string>

namespace hbmscope::gui {

// As much as fits of "update_nodes  models.py:174, 4.94 GiB": all of it, the line and the size, or the size alone;
// empty if nothing does. A `name` in parentheses ("(no stack was recorded)") is no name. `room`: in px.
std::string name_that_fits(const std::string& name, const std::string& size, float room);

}  // namespace hbmscope::gui
