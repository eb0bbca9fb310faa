#include "app/gui/shell/help_window.h"

#include <imgui.h>

#include "analysis/units/contains.h"
#include "app/gui/core/glossary.h"
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
    {"timeline: Ctrl+Shift+wheel", "zoom the y axis at the pointer; Y or 0 shows all of it"},
    {"timeline: click on a range", "select what happened in it: a step, a function"},
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

void draw_keys(const AppState& state, const Look& look, const std::string& narrowed_to) {
  if (ImGui::BeginTable("commands", 3, ImGuiTableFlags_RowBg)) {
    ImGui::TableSetupColumn("command", ImGuiTableColumnFlags_WidthStretch, 1.1F);
    ImGui::TableSetupColumn("keys", ImGuiTableColumnFlags_WidthFixed, look.px(120));
    ImGui::TableSetupColumn("help", ImGuiTableColumnFlags_WidthStretch, 1.6F);
    for (const char* menu : menus) draw_commands(state.host, menu, narrowed_to);
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
}

void draw_terms(const Look& look, const std::string& narrowed_to) {
  if (!ImGui::BeginTable("terms", 2, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("term", ImGuiTableColumnFlags_WidthFixed, look.px(180));
  ImGui::TableSetupColumn("meaning", ImGuiTableColumnFlags_WidthStretch);
  for (const Term& one : glossary()) {
    if (!contains_ignoring_case(one.term, narrowed_to) && !contains_ignoring_case(one.meaning, narrowed_to)) continue;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    bold_text(one.term);
    ImGui::TableNextColumn();
    wrapped_text(one.meaning);
  }
  ImGui::EndTable();
}

void draw_about(const AppState& state, CommandQueue& commands) {
  wrapped_text(state.about.empty() ? "hbmscope" : state.about);
  if (!state.graphics.empty()) wrapped_text(state.graphics, true);
  ImGui::Spacing();
  wrapped_text(
      "Documentation: man hbmscope, hbmscope COMMAND --help, and README.md in the sources, from which make site makes "
      "pages with a search.");
  ImGui::Spacing();
  if (ImGui::Button("Copy a problem report")) commands.push(CommandId::report_problem);
  tooltip(info_of(CommandId::report_problem).help);
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
  if (ImGui::Begin("Help", &open, ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings)) {
    const bool is_asked = help.page_seen != state.window.help_serial;
    help.page_seen = state.window.help_serial;
    ImGui::SetNextItemWidth(-1);
    if (is_asked || ImGui::IsWindowAppearing()) ImGui::SetKeyboardFocusHere();
    text_field("##narrow", "Search", help.narrowed_to);
    if (ImGui::IsWindowFocused() && ImGui::GetIO().WantTextInput && ImGui::IsKeyPressed(ImGuiKey_Escape, false))
      commands.push(CommandId::escape);
    const auto page = [&](const char* label, WindowState::HelpPage kind, const auto& draw) {
      const bool comes_forward = is_asked && state.window.help_page == kind;
      if (!ImGui::BeginTabItem(label, nullptr, comes_forward ? ImGuiTabItemFlags_SetSelected : 0)) return;
      ImGui::BeginChild("list");
      draw();
      ImGui::EndChild();
      ImGui::EndTabItem();
    };
    if (ImGui::BeginTabBar("pages")) {
      page("Keys and commands", WindowState::HelpPage::keys, [&] { draw_keys(state, look, help.narrowed_to); });
      page("Terms", WindowState::HelpPage::terms, [&] { draw_terms(look, help.narrowed_to); });
      page("About", WindowState::HelpPage::about, [&] { draw_about(state, commands); });
      ImGui::EndTabBar();
    }
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!open) commands.push(CommandId::help);
}

}  // namespace hbmscope::gui
