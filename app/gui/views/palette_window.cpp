#include "app/gui/views/palette_window.h"

#include <algorithm>
#include <vector>

#include <imcmd_fuzzy_search.h>
#include <imgui.h>

#include "app/gui/views/drawing.h"
#include "app/gui/views/text_field.h"

namespace hbmscope::gui {
namespace {

struct Found {
  const CommandInfo* info;
  int score;
};

std::vector<Found> find_commands(const std::string& typed) {
  std::vector<Found> found;
  for (const CommandInfo& info : command_table()) {
    if (info.needs == Needs::hidden) continue;
    const std::string words = std::string(info.title) + " " + std::string(info.menu);
    int score = 0;
    if (typed.empty() || ImCmd::FuzzySearch(typed.c_str(), words.c_str(), score)) found.push_back({&info, score});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  return found;
}

void give(const AppState& state, CommandId id, CommandQueue& commands) {
  commands.push(CommandId::palette);  // Closes it.
  if (why_not(state, id).empty() && id != CommandId::palette) commands.push(id);
}

void draw_rows(const AppState& state, PaletteState& palette, const std::vector<Found>& found, bool moved,
               CommandQueue& commands) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const CommandInfo& info = *found[i].info;
    const std::string_view reason = why_not(state, info.id);
    ImGui::PushID(static_cast<int>(info.id));
    const std::string title(info.title);
    if (!reason.empty()) ImGui::PushStyleColor(ImGuiCol_Text, ImGui::GetStyle().Colors[ImGuiCol_TextDisabled]);
    if (ImGui::Selectable(title.c_str(), i == palette.chosen, ImGuiSelectableFlags_AllowOverlap))
      give(state, info.id, commands);
    if (!reason.empty()) ImGui::PopStyleColor();
    if (i == palette.chosen && moved) ImGui::SetScrollHereY();
    tooltip(reason.empty() ? info.help : reason);
    const std::string right =
        reason.empty() ? std::string(info.menu) + "   " + std::string(info.shortcut) : std::string(reason);
    ImGui::SameLine();
    right_text(right, true);
    ImGui::PopID();
  }
}

}  // namespace

void draw_palette(const AppState& state, PaletteState& palette, CommandQueue& commands) {
  if (!state.window.palette_open) {
    palette.was_open = false;
    return;
  }
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  const bool appeared = !palette.was_open;
  palette.was_open = true;
  if (appeared) palette = {{}, 0, true};
  const float width = std::min(look.px(620), viewport.WorkSize.x * 0.9F);
  ImGui::SetNextWindowPos({viewport.WorkPos.x + (viewport.WorkSize.x - width) / 2, viewport.WorkPos.y + look.px(60)});
  ImGui::SetNextWindowSize({width, std::min(look.px(430), viewport.WorkSize.y * 0.7F)});
  if (appeared) ImGui::SetNextWindowFocus();
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings;
  if (ImGui::Begin("Command palette", nullptr, flags)) {
    if (appeared) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(-1);
    if (text_field("##command", "Type a few letters of a command", palette.typed)) palette.chosen = 0;
    const std::vector<Found> found = find_commands(palette.typed);
    bool moved = false;
    if (!found.empty()) {
      if (ImGui::IsKeyPressed(ImGuiKey_DownArrow)) palette.chosen = (palette.chosen + 1) % found.size(), moved = true;
      if (ImGui::IsKeyPressed(ImGuiKey_UpArrow))
        palette.chosen = (palette.chosen + found.size() - 1) % found.size(), moved = true;
      if (ImGui::IsKeyPressed(ImGuiKey_Enter, false))
        give(state, found[std::min(palette.chosen, found.size() - 1)].info->id, commands);
    } else {
      dim_text("No command is like \"" + palette.typed + "\".");
    }
    if (ImGui::GetIO().WantTextInput && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) commands.push(CommandId::palette);
    ImGui::BeginChild("found");
    draw_rows(state, palette, found, moved, commands);
    ImGui::EndChild();
    // A click elsewhere closes it.
    if (!appeared && !ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
        ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      commands.push(CommandId::palette);
  }
  ImGui::End();
  ImGui::PopStyleColor();
}

}  // namespace hbmscope::gui
