#include "app/gui/look/block_menu.h"

#include <imgui.h>

namespace hbmscope::gui {

void draw_block_menu(const BlockActions& actions, CommandQueue& commands) {
  const auto select = [&] { commands.push(command::select_address, actions.place); };
  ImGui::TextDisabled("%s, %s", actions.code.c_str(), actions.size.c_str());
  ImGui::Separator();
  if (ImGui::MenuItem("Zoom to this block", "Z")) {
    select();
    commands.push(CommandId::show_heap_map);
    commands.push(CommandId::zoom_to_selection);
  }
  if (ImGui::MenuItem("Show it in Blocks")) {
    select();
    commands.push(CommandId::show_blocks);
  }
  if (actions.allocation && ImGui::MenuItem("Go to its allocation")) {
    select();
    commands.push(command::set_moment, *actions.allocation);
  }
  if (ImGui::MenuItem("Go to its release")) commands.push(command::go_to_release, actions.place);
  ImGui::Separator();
  if (!actions.of_line.empty() && ImGui::MenuItem("Filter to this line"))
    commands.push(command::add_filter, actions.of_line);
  if (!actions.of_tag.empty() && ImGui::MenuItem("Filter to this tag"))
    commands.push(command::add_filter, actions.of_tag);
  if (ImGui::MenuItem("Filter to this size")) commands.push(command::add_filter, actions.of_size);
  ImGui::Separator();
  if (ImGui::MenuItem("Copy address")) commands.push(command::set_clipboard, actions.address);
  if (ImGui::MenuItem("Copy line")) commands.push(command::set_clipboard, actions.code);
}

}  // namespace hbmscope::gui
