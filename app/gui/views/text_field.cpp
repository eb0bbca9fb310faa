#include "app/gui/views/text_field.h"

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

}  // namespace

bool text_field(const char* id, const char* hint, std::string& text, int flags) {
  return ImGui::InputTextWithHint(id, hint, text.data(), text.capacity() + 1,
                                  flags | ImGuiInputTextFlags_CallbackResize, resize, &text);
}

}  // namespace hbmscope::gui
