#include "app/gui/look/block_menu.h"

#include <string>

#include <imgui.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/span_text.h"

namespace hbmscope::gui {

void draw_block_menu(const Trace& trace, HeapKey heap, const LiveBlock& block, CommandQueue& commands) {
  if (!ImGui::BeginPopupContextItem("block")) return;
  draw_block_menu_items(trace, heap, block, commands);
  ImGui::EndPopup();
}

void draw_block_menu_items(const Trace& trace, HeapKey heap, const LiveBlock& block, CommandQueue& commands) {
  const Definitions& definitions = trace.streams[heap.stream].definitions();
  const std::string code = user_code_text(definitions, block.stack);
  const auto select = [&] {
    commands.push(command::select_address, {block.address, frame_of_stack(definitions, block.stack), heap});
  };
  ImGui::TextDisabled("%s, %s", code.c_str(), text_from_bytes(block.size).c_str());
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
  const bool has_time = block.event != wire::before_the_stream;
  if (ImGui::MenuItem("Go to its allocation", nullptr, false, has_time)) {
    select();
    commands.push(command::set_moment, {trace, heap.stream, block.event + 1});
  }
  ImGui::Separator();
  if (!code.starts_with('(') && ImGui::MenuItem("Filter to this line"))
    commands.push(command::add_filter, "own=" + where_quote(code));
  if (block.tag != 0 && ImGui::MenuItem("Filter to this tag"))
    commands.push(command::add_filter, "tag=" + where_quote(definitions.text(block.tag)));
  if (ImGui::MenuItem("Filter to this size")) commands.push(command::add_filter, "size=" + std::to_string(block.size));
  ImGui::Separator();
  if (ImGui::MenuItem("Copy address")) commands.push(command::set_clipboard, address_text(block.address));
  if (ImGui::MenuItem("Copy line")) commands.push(command::set_clipboard, code);
}

}  // namespace hbmscope::gui
