#include "app/gui/shell/settings_window.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <imgui.h>

#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

void draw_theme(const Settings& settings, CommandQueue& commands) {
  const auto choice = [&](const char* label, bool is_on, Command chosen) {
    if (radio_button(label, is_on) && !is_on) commands.push(std::move(chosen));
    ImGui::SameLine();
  };
  choice("Dark", !settings.follows_system && settings.theme == Theme::dark, {command::set_theme, Theme::dark});
  choice("Light", !settings.follows_system && settings.theme == Theme::light, {command::set_theme, Theme::light});
  choice("As the system", settings.follows_system, CommandId::follow_system_theme);
  ImGui::NewLine();
}

void draw_text_size(const Settings& settings, CommandQueue& commands) {
  const int percent = static_cast<int>(std::lround(settings.text_scale * 100));
  // Steps instead of a slider: a slider that is dragged would grow under the pointer.
  constexpr int least = 75, most = 200, step = 25;
  const auto button = [&](const char* label, int wanted) {
    ImGui::BeginDisabled(wanted < least || wanted > most);
    if (ImGui::Button(label)) commands.push(command::set_text_scale, wanted / 100.0);
    ImGui::EndDisabled();
    ImGui::SameLine();
  };
  button("Smaller", percent - step);
  button("Larger", percent + step);
  button("100 %", 100);
  text(std::to_string(percent) + " %");
  tooltip("Ctrl+= and Ctrl+- change it, too; Ctrl+0 is 100 %.");
}

void draw_editor(const AppState& state, SettingsWindowState& window, CommandQueue& commands) {
  ImGui::SetNextItemWidth(-1);
  text_field("##editor", "code -g FILE:LINE", window.editor);
  if (ImGui::IsItemDeactivatedAfterEdit()) commands.push(command::set_editor, window.editor);
  wrapped_text(state.editor.empty() ? "No editor is known. Type its command, with FILE and LINE where they belong."
                                    : "Open in editor runs: " + state.editor,
               true);
}

}  // namespace

void draw_settings(const AppState& state, SettingsWindowState& window, CommandQueue& commands) {
  const bool appeared = state.window.settings_open && !window.was_open;
  window.was_open = state.window.settings_open;
  if (!window.was_open) return;
  if (appeared) window.editor = state.settings.editor;
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowSize({std::min(look.px(520), viewport.WorkSize.x * 0.9F), 0});
  ImGui::SetNextWindowPos(viewport.GetWorkCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (appeared) ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  bool open = true;
  if (ImGui::Begin("Settings", &open,
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    ImGui::SeparatorText("Theme");
    draw_theme(state.settings, commands);
    ImGui::SeparatorText("Text size");
    draw_text_size(state.settings, commands);
    if (state.host == Host::desktop) {
      ImGui::SeparatorText("Editor");
      draw_editor(state, window, commands);
    }
    ImGui::Spacing();
    dim_text("Changes are kept at once.");
    if (ImGui::Button("Close")) open = false;
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!open) commands.push(CommandId::settings);
}

}  // namespace hbmscope::gui
