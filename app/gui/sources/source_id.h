// A source by its number. A file that is read again gets a new one, so that no answer about its old content is taken
// for one about the new.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

enum class SourceId : std::uint32_t { none = 0 };

}  // namespace hbmscope::gui
