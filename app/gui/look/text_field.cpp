#include "app/gui/look/text_field.h"

#include <imgui.h>

namespace hbmscope::gui {
namespace {

struct Field {
  std::string& text;
  const TextEvents& events;
};

int handle_event(ImGuiInputTextCallbackData* data) {
  Field& field = *static_cast<Field*>(data->UserData);
  if (data->EventFlag == ImGuiInputTextFlags_CallbackResize) {
    field.text.resize(static_cast<std::size_t>(data->BufTextLen));
    data->Buf = field.text.data();
  } else if (field.events) {
    field.events(*data);
  }
  return 0;
}

// Shortened to the width.
std::string fitting(std::string hint) {
  const float room = ImGui::CalcItemWidth() - 2 * ImGui::GetStyle().FramePadding.x;
  while (ImGui::CalcTextSize(hint.c_str()).x > room) {
    const std::size_t space = hint.find_last_of(' ');
    if (space == std::string::npos) break;
    hint.resize(space);
  }
  while (!hint.empty() && (hint.back() == ',' || hint.back() == ':')) hint.pop_back();
  return hint;
}

}  // namespace

bool text_field(const char* id, const char* hint, std::string& text, int flags, const TextEvents& events) {
  Field field{text, events};
  return ImGui::InputTextWithHint(id, fitting(hint).c_str(), text.data(), text.capacity() + 1,
                                  flags | ImGuiInputTextFlags_CallbackResize, handle_event, &field);
}

}  // namespace hbmscope::gui
