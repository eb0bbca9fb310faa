#include "app/gui/core/frame_key.h"

#include <array>
#include <utility>

namespace hbmscope::gui {
namespace {

constexpr std::array<std::pair<FrameBy, std::string_view>, 5> by_names{{{FrameBy::function, "function"},
                                                                        {FrameBy::line, "line"},
                                                                        {FrameBy::file, "file"},
                                                                        {FrameBy::package, "package"},
                                                                        {FrameBy::address, "address"}}};
}  // namespace

FrameKey key_from_frame(const Frame& frame) {
  return {frame.function, frame.file, frame.line};
}

FrameKey key_of_own_line(const Frame& frame) {
  FrameKey key = key_from_frame(frame);
  key.is_own_line = true;
  return key;
}

std::string own_line_name(std::string_view function, std::string_view file, std::int64_t line) {
  return std::string(function) + "  " + file_title(file) + (line > 0 ? ":" + std::to_string(line) : "");
}

bool matches(const FrameKey& key, const Frame& frame, FrameBy by) {
  if (key.function != frame.function) return false;
  if (!key.file.empty() && key.file != frame.file) return false;
  return by != FrameBy::line || key.line == 0 || key.line == frame.line;
}

FrameIndex find_frame(const ProfileView& view, const FrameKey& key) {
  if (key.empty()) return FrameIndex::none;
  for (std::size_t i = 0; i < view.frames.size(); ++i)
    if (matches(key, view.frames[i], view.request.by)) return static_cast<FrameIndex>(i);
  return FrameIndex::none;
}

std::string location_text(const Frame& frame) {
  if (frame.file.empty()) return {};
  std::string text(file_tail(frame.file));
  if (frame.line > 0) text += ":" + std::to_string(frame.line);
  return text;
}

std::string_view text_from_frame_by(FrameBy by) {
  for (const auto& [value, name] : by_names)
    if (value == by) return name;
  return "function";
}

}  // namespace hbmscope::gui
