#include "app/gui/shell/help_window.h"

#include <imgui.h>

#include "analysis/units/contains.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

struct Gesture {
  const char *what, *does;
};
constexpr Gesture gestures[] = {
    {"click", "select the frame, block or gap in all views; click again to clear"},
    {"double-click", "zoom the flame graph to the frame; open a node of the call tree; zoom the heap map to the block"},
    {"wheel", "zoom at the pointer (Ctrl: in large steps); lists scroll"},
    {"Shift+wheel, drag", "pan"},
    {"W S A D", "zoom in and out, pan, in the flame graph, the heap map and the timeline"},
    {"timeline: click", "go to that time; snaps to a failure, a marker or the peak nearby (Alt: no snapping)"},
    {"timeline: drag", "select a range; on the band above the lanes: move the current time; right button: pan"},
    {"timeline: Y", "fit the y axes to the visible data, or to the whole trace"},
    {"right click", "menu: filter, zoom, source, copy"},
    {"mouse 4 and 5", "view back, forward"},
};

void draw_commands(Host host, const char* menu, const std::string& narrowed_to) {
  bool titled = false;
  for (const CommandInfo& info : command_table()) {
    if (info.menu != menu || !is_offered(host, info.id)) continue;
    if (!contains_ignoring_case(info.title, narrowed_to) && !contains_ignoring_case(info.help, narrowed_to) &&
        !contains_ignoring_case(info.shortcut, narrowed_to))
      continue;
    if (!titled) {
      ImGui::TableNextRow();
      ImGui::TableNextColumn();
      bold_text(menu);
      titled = true;
    }
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(info.title);
    ImGui::TableNextColumn();
    text(shortcut_on(host, info));
    ImGui::TableNextColumn();
    wrapped_text(info.help, true);
  }
}

}  // namespace

void draw_help(const AppState& state, HelpState& help, CommandQueue& commands) {
  if (!state.window.help_open) return;
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowSize({std::min(look.px(820), viewport.WorkSize.x * 0.9F), viewport.WorkSize.y * 0.8F},
                           ImGuiCond_Appearing);
  ImGui::SetNextWindowPos(viewport.GetWorkCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  bool open = true;
  if (ImGui::Begin("Keys and commands", &open, ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings)) {
    ImGui::SetNextItemWidth(-1);
    text_field("##narrow", "Search", help.narrowed_to);
    ImGui::BeginChild("list");
    if (ImGui::BeginTable("commands", 3, ImGuiTableFlags_RowBg)) {
      ImGui::TableSetupColumn("command", ImGuiTableColumnFlags_WidthStretch, 1.1F);
      ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed, look.px(120));
      ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch, 1.6F);
      for (const char* menu : menus) draw_commands(state.host, menu, help.narrowed_to);
      ImGui::EndTable();
    }
    ImGui::SeparatorText("In pictures and lists");
    if (ImGui::BeginTable("gestures", 2, ImGuiTableFlags_RowBg)) {
      ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed, look.px(160));
      ImGui::TableSetupColumn("does", ImGuiTableColumnFlags_WidthStretch);
      for (const Gesture& gesture : gestures) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        text(gesture.what);
        ImGui::TableNextColumn();
        dim_text(gesture.does);
      }
      ImGui::EndTable();
    }
    ImGui::Spacing();
    wrapped_text(
        "Screen readers can't read this window. Every view can be copied as text (Copy as text), and Copy as command "
        "gives a command that prints or opens the same.",
        true);
    ImGui::EndChild();
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!open) commands.push(CommandId::help);
}

}  // namespace hbmscope::gui
