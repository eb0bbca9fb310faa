#include "app/gui/views/flame_legend.h"

#include <algorithm>
#include <string>

#include "app/gui/core/copy_as_command.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {
namespace {

// A square of the colour and a name; true when clicked.
bool draw_entry(const Look& look, ImU32 color, const std::string& name, bool clickable) {
  const float side = look.px(12), line = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = side + look.px(5) + ImGui::CalcTextSize(name.c_str()).x;
  const bool clicked = ImGui::InvisibleButton(name.c_str(), {width, line}) && clickable;
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const float top = at.y + (line - side) / 2;
  draw.AddRectFilled({at.x, top}, {at.x + side, top + side}, color, look.px(2));
  draw.AddText({at.x + side + look.px(5), at.y + (line - ImGui::GetTextLineHeight()) / 2},
               ImGui::IsItemHovered() && clickable ? look.role(Role::text) : look.role(Role::dim_text), name.c_str());
  return clicked;
}

bool fits(float width) {
  return ImGui::GetItemRectMax().x + width <
         ImGui::GetWindowPos().x + ImGui::GetContentRegionAvail().x + ImGui::GetCursorPosX();
}

}  // namespace

std::size_t draw_flame_legend(const AppState& state, CommandQueue& commands) {
  const Look look(state);
  std::size_t hovered = hue_count + 1;
  ImGui::PushID("legend");
  const std::vector<std::string>& files = state.colors.files();
  bool first = true;
  const auto entry = [&](const std::string& name, ImU32 color, bool clickable) {
    const float width = ImGui::CalcTextSize(name.c_str()).x + look.px(40);
    if (!first && fits(width)) ImGui::SameLine(0, look.px(16));
    first = false;
    return draw_entry(look, color, name, clickable);
  };
  for (std::size_t hue = 0; hue < files.size(); ++hue) {
    const std::string name = file_title(files[hue]);
    ImGui::PushID(static_cast<int>(hue));
    if (entry(name, look.hue(hue), true)) commands.push(CommandId::add_filter, "file=" + where_quote(files[hue]));
    if (ImGui::IsItemHovered()) hovered = hue;
    tooltip(files[hue] + "\nClick: filter to this file, click again: show all.");
    ImGui::PopID();
  }
  if (files.size() == hue_count) entry("other files", look.role(Role::several), false);
  entry("libraries", look.role(Role::same), false);
  ImGui::PopID();
  return hovered;
}

}  // namespace hbmscope::gui
