// The number of a source. A file that is read again gets a new one, so that an answer about its old content is never
// used for the new content.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

enum class SourceId : std::uint32_t { none = 0 };

}  // namespace hbmscope::gui
