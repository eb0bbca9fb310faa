#include "app/gui/shell/file_dialog.h"

#include <algorithm>
#include <filesystem>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/export_files.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

using Dialog = WindowState::Dialog;

const char* title_of(Dialog dialog) {
  switch (dialog) {
    case Dialog::open_folder: return "Open folder###files";
    case Dialog::open_baseline: return "Compare with###files";
    case Dialog::export_file: return "Export###files";
    default: return "Open file###files";
  }
}

std::string join(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

void open_chosen(Dialog dialog, const std::string& path, CommandQueue& commands) {
  switch (dialog) {
    case Dialog::open_folder: return commands.push(command::open_folder_path, path);
    case Dialog::open_baseline: return commands.push(command::open_baseline_path, path);
    case Dialog::export_file: return commands.push(command::write_export, path);
    default: break;
  }
  commands.push(command::open_paths, {path});
}

void draw_path_line(FileDialogState& dialog, const FolderListing* listing, CommandQueue& commands) {
  const bool has_parent = listing != nullptr && !listing->parent.empty();
  ImGui::BeginDisabled(!has_parent);
  if (ImGui::Button("Up") && has_parent) commands.push(command::list_folder, listing->parent);
  ImGui::EndDisabled();
  ImGui::SameLine();
  ImGui::SetNextItemWidth(-1);
  if (text_field("##path", "Folder or file", dialog.path, ImGuiInputTextFlags_EnterReturnsTrue)) {
    // A path with the ending of a profile is a file; any other is a folder.
    if (dialog.shown != Dialog::export_file && looks_like_profile(dialog.path)) {
      open_chosen(dialog.shown, dialog.path, commands);
    } else {
      commands.push(command::list_folder, dialog.path);
    }
  }
}

void draw_entry(FileDialogState& dialog, const FolderListing& listing, const FolderEntry& entry,
                CommandQueue& commands) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string label = entry.is_folder ? entry.name + "/" : entry.name;
  if (ImGui::Selectable(label.c_str(), dialog.chosen == entry.name,
                        ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowDoubleClick)) {
    dialog.chosen = entry.name;
    if (!entry.is_folder) dialog.file_name = entry.name;
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      if (entry.is_folder) {
        commands.push(command::list_folder, join(listing.folder, entry.name));
      } else if (dialog.shown != Dialog::export_file && dialog.shown != Dialog::open_folder) {
        open_chosen(dialog.shown, join(listing.folder, entry.name), commands);
      }
    }
  }
  ImGui::TableNextColumn();
  if (!entry.is_folder) right_text(text_from_bytes(static_cast<std::int64_t>(entry.size_bytes)), true);
}

void draw_entries(const Look& look, FileDialogState& dialog, const FolderListing& listing, CommandQueue& commands) {
  const float below = 2 * ImGui::GetFrameHeightWithSpacing();
  if (!ImGui::BeginTable("entries", 2, ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg, {0, -below})) return;
  ImGui::TableSetupColumn("name", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableSetupColumn("size", ImGuiTableColumnFlags_WidthFixed, look.px(90));
  std::size_t left_out = 0;
  for (const FolderEntry& entry : listing.entries) {
    const bool wanted = entry.is_folder || entry.is_profile || dialog.all_files;
    if (wanted) {
      draw_entry(dialog, listing, entry, commands);
    } else {
      ++left_out;
    }
  }
  ImGui::EndTable();
  ImGui::Checkbox("All files", &dialog.all_files);
  ImGui::SameLine();
  if (left_out > 0) {
    dim_text(text_from_count(static_cast<std::int64_t>(left_out)) + " other files are hidden because of their endings");
  } else {
    dim_text(text_from_count(static_cast<std::int64_t>(listing.entries.size())) + " entries");
  }
}

void draw_buttons(FileDialogState& dialog, const FolderListing& listing, CommandQueue& commands) {
  const auto chosen = std::find_if(listing.entries.begin(), listing.entries.end(),
                                   [&](const FolderEntry& entry) { return entry.name == dialog.chosen; });
  const bool has_chosen = chosen != listing.entries.end();
  if (dialog.shown == Dialog::export_file) {
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x * 0.5F);
    text_field("##name", "Name of the file", dialog.file_name);
    ImGui::SameLine();
    ImGui::BeginDisabled(dialog.file_name.empty());
    if (ImGui::Button("Write")) open_chosen(dialog.shown, join(listing.folder, dialog.file_name), commands);
    ImGui::EndDisabled();
  } else if (dialog.shown == Dialog::open_folder) {
    const bool below = has_chosen && chosen->is_folder;
    const std::string folder = below ? join(listing.folder, chosen->name) : listing.folder;
    if (ImGui::Button("Open this folder")) open_chosen(dialog.shown, folder, commands);
    tooltip(folder);
  } else {
    ImGui::BeginDisabled(!has_chosen);
    if (ImGui::Button("Open") && has_chosen) {
      if (chosen->is_folder) {
        commands.push(command::list_folder, join(listing.folder, chosen->name));
      } else {
        open_chosen(dialog.shown, join(listing.folder, chosen->name), commands);
      }
    }
    ImGui::EndDisabled();
  }
  ImGui::SameLine();
  if (ImGui::Button("Cancel")) commands.push(CommandId::close_dialog);
}

}  // namespace

void draw_file_dialog(const AppState& state, FileDialogState& dialog, CommandQueue& commands) {
  const Dialog wanted = state.window.dialog;
  if (wanted == Dialog::none) {
    dialog.shown = Dialog::none;
    return;
  }
  const bool appeared = dialog.shown != wanted;
  if (appeared) {
    dialog.shown = wanted;
    dialog.chosen.clear();
    dialog.file_name = wanted == Dialog::export_file ? suggested_export_name(state) : "";
    commands.push(command::list_folder, "");
  }
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowSize(
      {std::min(look.px(720), viewport.WorkSize.x * 0.9F), std::min(look.px(520), viewport.WorkSize.y * 0.8F)},
      ImGuiCond_Appearing);
  ImGui::SetNextWindowPos(viewport.GetWorkCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (appeared) ImGui::SetNextWindowFocus();
  bool open = true;
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  if (ImGui::Begin(title_of(wanted), &open,
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    const auto listing = state.folder.value;
    if (listing && dialog.listed != listing) {
      dialog.listed = listing;
      dialog.path = listing->folder;
      dialog.chosen.clear();
    }
    draw_path_line(dialog, listing.get(), commands);
    if (state.folder.failed()) draw_error(state, state.folder.error);
    if (listing) {
      draw_entries(look, dialog, *listing, commands);
      draw_buttons(dialog, *listing, commands);
    }
    const bool is_focused = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    // Unless it means a button or a field.
    const bool is_enter = is_focused && ImGui::IsKeyPressed(ImGuiKey_Enter, false) && !ImGui::IsAnyItemActive() &&
                          !ImGui::GetIO().NavVisible;
    if (is_enter && !appeared && listing && wanted == Dialog::export_file && !dialog.file_name.empty())
      open_chosen(dialog.shown, join(listing->folder, dialog.file_name), commands);
    if (is_focused && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) open = false;
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!open) commands.push(CommandId::close_dialog);
}

}  // namespace hbmscope::gui
