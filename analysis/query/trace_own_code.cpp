#include "analysis/query/trace_own_code.h"

#include "analysis/query/profile_view.h"

namespace hbmscope {

std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack) {
  constexpr int frames_max = 4096;  // Python itself stops at 1,000; a damaged file may not.
  std::optional<TraceFrame> own_code;
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const std::uint32_t id = definitions.stack(stack).frame;
    const TraceFrame frame = definitions.frame(id);
    const std::string_view file = definitions.text(frame.file);
    const bool is_program = file.ends_with(".py") || file.ends_with(".json");  // JSON: a workload of `tpu run`.
    if (is_program && !is_library_file(file)) return frame;
    if (!own_code && definitions.is_code(id) && !file.empty() && !is_library_file(file)) own_code = frame;
  }
  return own_code;
}

std::string own_code_text(const Definitions& definitions, std::uint32_t stack) {
  if (stack == 0) return "(no stack was recorded)";
  const auto frame = find_own_frame(definitions, stack);
  if (!frame) return "(library code only)";
  return std::string(definitions.text(frame->function)) + "  " + file_title(definitions.text(frame->file)) +
         (frame->line > 0 ? ":" + std::to_string(frame->line) : "");
}

}  // namespace hbmscope
