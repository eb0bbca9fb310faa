// The frames of a trace's stacks that say something: without what the trace says to drop (the recorder's own and the
// allocator's) and without the Python interpreter's own functions. As profile_view.h, for stacks that are in no
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

  // Innermost first. All of them where they would all be left out.
  std::vector<TraceFrame> of(const Definitions& definitions, std::uint32_t stack) const;

 private:
  std::shared_ptr<const re2::RE2> drop_;  // Null: nothing, or no expression.
};

}  // namespace hbmscope
