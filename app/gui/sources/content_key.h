// Identifies what files contain, wherever they are and whatever they are called: a hash of the first and last 64 KiB
// and of the size of each.
#pragma once

#include <string>
#include <vector>

namespace hbmscope::gui {

// Hexadecimal digits. Empty if one of them is no regular file that can be read.
std::string content_key_of(const std::vector<std::string>& files);

}  // namespace hbmscope::gui
