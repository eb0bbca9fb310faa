#include "analysis/answers/stacks.h"

#include "analysis/query/profile_view.h"
#include "analysis/query/trace_user_code.h"

namespace hbmscope {
namespace {

CodeSite site_of_frame(const Definitions& definitions, const TraceFrame& frame, bool is_own_line) {
  const std::string_view file = definitions.text(frame.file);
  return {std::string(definitions.text(frame.function)), std::string(file), frame.line, is_library_file(file),
          is_own_line};
}

}  // namespace

CodeStack stack_from_frames(const Definitions& definitions, const std::vector<TraceFrame>& frames,
                            std::uint32_t stack) {
  const auto own = find_own_frame(definitions, stack);
  CodeStack sites;
  bool has_own = !own;
  for (const TraceFrame& frame : frames) {
    const bool is_own = !has_own && frame == *own;
    has_own = has_own || is_own;
    sites.push_back(site_of_frame(definitions, frame, is_own));
  }
  return sites;
}

CodeStack whole_stack(const Definitions& definitions, std::uint32_t stack) {
  constexpr std::size_t frames_max = 4096;  // Python itself stops at 1,000 frames; a damaged file may have more.
  std::vector<TraceFrame> frames;
  for (std::uint32_t at = stack; at != 0 && frames.size() < frames_max; at = definitions.stack(at).parent)
    frames.push_back(definitions.frame(definitions.stack(at).frame));
  return stack_from_frames(definitions, frames, stack);
}

Value own_line_value(const Definitions& definitions, std::uint32_t stack) {
  const auto frame = find_own_frame(definitions, stack);
  if (frame) return site_of_frame(definitions, *frame, true);
  return std::string(stack == 0 ? "(no stack)" : no_user_code_text(definitions, stack));
}

}  // namespace hbmscope
