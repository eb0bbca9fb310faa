#include "analysis/query/trace_own_code.h"

#include "analysis/query/profile_view.h"

namespace hbmscope {

std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack) {
  for (; stack != 0; stack = definitions.stack(stack).parent) {
    const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
    const std::string_view file = definitions.text(frame.file);
    if (!file.empty() && file.ends_with(".py") && !is_library_file(file)) return frame;
  }
  return std::nullopt;
}

}  // namespace hbmscope
