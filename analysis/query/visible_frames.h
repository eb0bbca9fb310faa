// The meaningful frames of a trace's stacks: without the frames that the trace says to drop (the recorder's and the
// allocator's) and without the Python interpreter's own functions. Like profile_view.h, for stacks that are not in a
// profile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/trace/trace.h"

namespace re2 {
class RE2;
}

namespace hbmscope {

class VisibleFrames {
 public:
  explicit VisibleFrames(const Trace& trace);

  // Innermost first. If all frames would be dropped, all are kept.
  std::vector<TraceFrame> of(const Definitions& definitions, std::uint32_t stack) const;

 private:
  std::shared_ptr<const re2::RE2> drop_;  // Null: drops nothing, or the expression does not compile.
};

}  // namespace hbmscope
