// An input field for a std::string.
#pragma once

#include <string>

namespace hbmscope::gui {

// True in each frame in which the text changed.
bool text_field(const char* id, const char* hint, std::string& text, int flags = 0);

}  // namespace hbmscope::gui
