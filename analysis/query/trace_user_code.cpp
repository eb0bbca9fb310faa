#include "analysis/query/trace_user_code.h"

#include "analysis/query/own_frame.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {
namespace {

constexpr int frames_max = 4096;  // Python stops at 1,000; a damaged file may not.

std::string_view text_without_frame(const OwnPlace& place) {
  if (place.is_unknown) return no_stack_label;
  return place.is_autograd_thread ? autograd_thread_label : library_only_label;
}

}  // namespace

OwnPlace find_own_place(const Definitions& definitions, std::uint32_t stack) {
  OwnPlace place{std::nullopt, false, true};
  for (int frames = 0; stack != 0 && frames < frames_max; ++frames, stack = definitions.stack(stack).parent) {
    const std::uint32_t id = definitions.stack(stack).frame;
    const TraceFrame frame = definitions.frame(id);
    const std::string_view function = definitions.text(frame.function), file = definitions.text(frame.file);
    const FileOwner of_file = frame.line > 0 ? owner_of_source(file, definitions.code_file(id)) : owner_of_file(file);
    const FileOwner owner = owner_of_frame(of_file, function, file);
    if (owner == FileOwner::program) return {frame, false};
    if (owner == FileOwner::code && !place.frame) place.frame = frame;
    if (file != unknown_file) place.is_unknown = false;
    if (is_autograd_thread_frame(function)) place.is_autograd_thread = true;
  }
  if (place.frame) place.is_autograd_thread = false;
  return place;
}

std::optional<TraceFrame> find_own_frame(const Definitions& definitions, std::uint32_t stack) {
  return find_own_place(definitions, stack).frame;
}

std::string_view no_user_code_text(const Definitions& definitions, std::uint32_t stack) {
  return text_without_frame(find_own_place(definitions, stack));
}

std::string user_code_text(const Definitions& definitions, std::uint32_t stack) {
  const OwnPlace place = find_own_place(definitions, stack);
  if (!place.frame) return std::string(text_without_frame(place));
  return frame_text(definitions, *place.frame);
}

std::string frame_text(const Definitions& definitions, const TraceFrame& frame) {
  return std::string(definitions.text(frame.function)) + "  " + file_title(definitions.text(frame.file)) +
         (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
}

}  // namespace hbmscope
