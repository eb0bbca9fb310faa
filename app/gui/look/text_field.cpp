#include "app/gui/look/text_field.h"

#include <imgui.h>

namespace hbmscope::gui {
namespace {

int resize(ImGuiInputTextCallbackData* data) {
  if (data->EventFlag != ImGuiInputTextFlags_CallbackResize) return 0;
  auto& text = *static_cast<std::string*>(data->UserData);
  text.resize(static_cast<std::size_t>(data->BufTextLen));
  data->Buf = text.data();
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

bool text_field(const char* id, const char* hint, std::string& text, int flags) {
  return ImGui::InputTextWithHint(id, fitting(hint).c_str(), text.data(), text.capacity() + 1,
                                  flags | ImGuiInputTextFlags_CallbackResize, resize, &text);
}

}  // namespace hbmscope::gui
