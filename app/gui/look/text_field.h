// An input field for a std::string.
#pragma once

#include <functional>
#include <string>

struct ImGuiInputTextCallbackData;

namespace hbmscope::gui {

// Gets ImGui's events of the field that `flags` ask for.
using TextEvents = std::function<void(ImGuiInputTextCallbackData& event)>;

// True in each frame in which the text changed.
bool text_field(const char* id, const char* hint, std::string& text, int flags = 0, const TextEvents& events = {});

}  // namespace hbmscope::gui
