#include "app/gui/look/frame_menu.h"

#include <imgui.h>

#include "analysis/units/contains.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/look/editor_item.h"

namespace hbmscope::gui {
void draw_frame_menu(const AppState& state, const Frame& frame, CommandQueue& commands) {
  if (!ImGui::BeginPopupContextItem("frame")) return;
  ImGui::TextDisabled("%s", frame.function.c_str());
  ImGui::Separator();
  const auto item = [](const char* label) { return ImGui::MenuItem(label); };
  if (item("Filter to stacks through this frame"))
    commands.push(command::add_filter, "stack:" + where_quote(frame.function));
  if (item("Exclude stacks through this frame"))
    commands.push(command::add_filter, "-stack:" + where_quote(frame.function));
  if (!frame.file.empty() && item("Filter to this file"))
    commands.push(command::add_filter, "file:" + where_quote(file_tail(frame.file)));
  ImGui::Separator();
  if (item("Zoom to this frame in the flame graph")) {
    commands.select(key_from_frame(frame));
    commands.push(CommandId::show_flame);
    commands.push(CommandId::zoom_to_selection);
  }
  if (item("Show source")) {
    commands.select(key_from_frame(frame));
    commands.push(CommandId::show_source);
  }
  draw_editor_item(state, {frame.function, frame.file, frame.line}, commands);
  ImGui::Separator();
  if (item("Copy name")) commands.push(command::set_clipboard, frame.function);
  if (!frame.file.empty() && item("Copy location"))
    commands.push(command::set_clipboard, frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : ""));
  ImGui::EndPopup();
}

void copy_table(const AppState& state, const TextTable& table, CommandQueue& commands) {
  if (!state.window.figures_file.empty()) return commands.push(command::write_figures, csv_from_table(table));
  commands.push(command::set_clipboard, state.window.copy_as_text ? text_from_table(table) : tsv_from_table(table));
}

bool found_by(std::string_view find, const Frame& frame) {
  return find.empty() || contains_ignoring_case(frame.function, find) || contains_ignoring_case(frame.file, find);
}

}  // namespace hbmscope::gui
