#include "app/gui/shell/menu_bar.h"

#include <string>

#include <imgui.h>

#include "app/gui/look/drawing.h"
#include "app/gui/shell/live_head.h"

namespace hbmscope::gui {
namespace {

// A line separates groups of commands.
bool begins_group(CommandId id) {
  switch (id) {
    case CommandId::close_file:
    case CommandId::export_picture:
    case CommandId::quit:
    case CommandId::find:
    case CommandId::edit_filter:
    case CommandId::escape:
    case CommandId::settings:
    case CommandId::start_demo:
    case CommandId::report_problem:
    case CommandId::go_to:
    case CommandId::next_failure:
    case CommandId::next_event:
    case CommandId::play:
    case CommandId::by_function:
    case CommandId::toggle_value:
    case CommandId::next_view:
    case CommandId::toggle_theme:
    case CommandId::reset_layout:
    case CommandId::swap_baseline: return true;
    default: return false;
  }
}

void draw_item(const AppState& state, const CommandInfo& info, CommandQueue& commands) {
  const std::string_view reason = why_not(state, info.id);
  if (ImGui::MenuItem(std::string(info.title).c_str(), std::string(shortcut_on(state.host, info)).c_str(),
                      is_checked(state, info.id), reason.empty()))
    commands.push(info.id);
  if (ImGui::IsItemHovered(ImGuiHoveredFlags_ForTooltip | ImGuiHoveredFlags_AllowWhenDisabled) &&
      ImGui::BeginTooltip()) {
    text(info.help);
    if (!reason.empty()) dim_text(reason);
    ImGui::EndTooltip();
  }
}

void draw_recent(const AppState& state, CommandQueue& commands) {
  if (state.host == Host::browser || state.recent.empty() || !ImGui::BeginMenu("Open recent")) return;
  for (const RecentFile& file : state.recent) {
    const std::string shown = shortened(file.path, ImGui::GetFontSize() * 36, true);
    if (ImGui::MenuItem((shown + "##" + file.path).c_str(), file.missing ? "missing" : nullptr, false, !file.missing)) {
      commands.push(command::open_paths, {file.path});
    }
    tooltip(file.headline);
  }
  ImGui::EndMenu();
}

void draw_menu(const AppState& state, const char* name, CommandQueue& commands) {
  if (!ImGui::BeginMenu(name)) return;
  bool first = true;
  for (const CommandInfo& info : command_table()) {
    if (info.menu != name || !is_offered(state.host, info.id)) continue;
    if (!first && begins_group(info.id)) ImGui::Separator();
    draw_item(state, info, commands);
    if (info.id == CommandId::open_folder) draw_recent(state, commands);
    first = false;
  }
  ImGui::EndMenu();
}

}  // namespace

void draw_menu_bar(const AppState& state, CommandQueue& commands) {
  if (!ImGui::BeginMenuBar()) return;
  for (const char* name : menus) draw_menu(state, name, commands);
  ImGui::Dummy({2 * ImGui::GetFontSize() - ImGui::GetStyle().ItemSpacing.x, 0});
  draw_live_head(state, commands);
  // On the right, if they fit: the buttons for the palette and the theme.
  const std::string palette = "Find a command   Ctrl+Shift+P";
  const std::string theme = state.settings.theme == Theme::dark ? "Light" : "Dark";
  const float width = ImGui::CalcTextSize((palette + theme).c_str()).x + 6 * ImGui::GetStyle().FramePadding.x +
                      ImGui::GetStyle().ItemSpacing.x;
  const float space = ImGui::GetContentRegionAvail().x - width;
  if (space > 0) {
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + space);
    if (ImGui::SmallButton(palette.c_str())) commands.push(CommandId::palette);
    if (ImGui::SmallButton(theme.c_str())) commands.push(CommandId::toggle_theme);
    tooltip("Switches the theme");
  }
  ImGui::EndMenuBar();
}

}  // namespace hbmscope::gui
