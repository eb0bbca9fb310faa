#include "analysis/query/trace_user_code.h"

#include "analysis/query/own_file.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {

std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack) {
  constexpr int frames_max = 4096;  // Python stops at 1,000; a damaged file may not.
  std::optional<TraceFrame> user_code;
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const std::uint32_t id = definitions.stack(stack).frame;
    const TraceFrame frame = definitions.frame(id);
    const std::string_view file = definitions.text(frame.file);
    const FileOwner owner = frame.line > 0 ? owner_of_source(file, definitions.code_file(id)) : owner_of_file(file);
    if (owner == FileOwner::program) return frame;
    if (owner == FileOwner::code && !user_code) user_code = frame;
  }
  return user_code;
}

std::string user_code_text(const Definitions& definitions, std::uint32_t stack) {
  if (stack == 0) return "(no stack was recorded)";
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return "(library code only)";
  return std::string(definitions.text(frame->function)) + "  " + file_title(definitions.text(frame->file)) +
         (frame->line > 0 ? ":" + std::to_string(frame->line) : "");
}

}  // namespace hbmscope
