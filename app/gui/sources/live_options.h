// Options for watching a running job.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

struct LiveOptions {
  std::uint64_t memory_max = 0;  // Memory limit of its events; the rest goes to a file. 0 means no limit.
  bool from_now = false;         // Don't fetch earlier events.
};

}  // namespace hbmscope::gui
