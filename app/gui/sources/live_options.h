// How a running job is looked at.
#pragma once

#include <cstdint>

namespace hbmscope::gui {

struct LiveOptions {
  std::uint64_t memory_max = 0;  // What its events may take; more is put into a file. 0: no limit.
  bool from_now = false;         // What happened before is not fetched.
};

}  // namespace hbmscope::gui
