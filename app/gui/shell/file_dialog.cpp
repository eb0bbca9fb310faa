#include "app/gui/shell/file_dialog.h"

#include <algorithm>
#include <cctype>
#include <ctime>
#include <filesystem>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/export_files.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"
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
  if (ImGui::Button((std::string(icon::up) + "###Up").c_str()) && has_parent)
    commands.push(command::list_folder, listing->parent);
  ImGui::EndDisabled();
  tooltip("The folder above");
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

// Where people keep files: home, the folder of the program's start, and the folders of recent files.
void draw_places(const AppState& state, const Look& look, CommandQueue& commands) {
  const auto place = [&](const char* sign, const std::string& name, const std::string& folder) {
    ImGui::PushID(folder.c_str());
    const std::string label = std::string(sign) + "  " + name;
    if (ImGui::Selectable(shortened(label, ImGui::GetContentRegionAvail().x).c_str()))
      commands.push(command::list_folder, folder);
    tooltip(folder);
    ImGui::PopID();
  };
  ImGui::BeginChild("places", {look.px(170), -2 * ImGui::GetFrameHeightWithSpacing()});
  place(icon::home, "Home", "~");
  place(icon::open_folder, "Current folder", ".");
  constexpr std::size_t recent_max = 8;
  std::vector<std::string> folders;
  for (const RecentFile& file : state.recent) {
    std::string folder = std::filesystem::path(file.path).parent_path().string();
    const bool is_there = std::find(folders.begin(), folders.end(), folder) != folders.end();
    if (!file.missing && !is_there && folders.size() < recent_max) folders.push_back(std::move(folder));
  }
  if (!folders.empty()) dim_text("Recent");
  for (const std::string& folder : folders)
    place(icon::recent, std::filesystem::path(folder).filename().string(), folder);
  ImGui::EndChild();
  ImGui::SameLine();
}

std::string date_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm local{};
  if (seconds == 0 || ::localtime_r(&time, &local) == nullptr) return {};
  char text[32];
  return {text, std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &local)};
}

// The first letters of a name choose it. False if nothing was typed.
bool find_typed(FileDialogState& dialog) {
  const ImGuiIO& io = ImGui::GetIO();
  const bool takes_letters = ImGui::IsWindowFocused(ImGuiFocusedFlags_RootAndChildWindows) && !io.WantTextInput;
  if (!takes_letters || io.InputQueueCharacters.empty()) return false;
  constexpr double pause = 1;  // After which a new name begins.
  if (ImGui::GetTime() - dialog.typed_at > pause) dialog.typed.clear();
  dialog.typed_at = ImGui::GetTime();
  for (const ImWchar letter : io.InputQueueCharacters)
    if (letter > ' ' && letter < 127) dialog.typed.push_back(static_cast<char>(std::tolower(static_cast<int>(letter))));
  const auto begins_so = [&](const FolderEntry& entry) {
    return entry.name.size() >= dialog.typed.size() &&
           std::equal(dialog.typed.begin(), dialog.typed.end(), entry.name.begin(),
                      [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  };
  const auto found = std::find_if(dialog.entries.begin(), dialog.entries.end(), begins_so);
  if (dialog.typed.empty() || found == dialog.entries.end()) return false;
  dialog.chosen = found->name;
  if (!found->is_folder) dialog.file_name = found->name;
  return true;
}

void draw_entry(FileDialogState& dialog, const FolderListing& listing, const FolderEntry& entry,
                CommandQueue& commands) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string label =
      std::string(entry.is_folder ? icon::folder : icon::file) + "  " + entry.name + "###" + entry.name;
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
  ImGui::TableNextColumn();
  dim_text(date_text(entry.changed_s));
}

void draw_entries(const Look& look, FileDialogState& dialog, const FolderListing& listing, CommandQueue& commands) {
  const float below = 2 * ImGui::GetFrameHeightWithSpacing();
  constexpr ImGuiTableFlags flags =
      ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Sortable | ImGuiTableFlags_NoSavedSettings;
  if (!ImGui::BeginTable("entries", 3, flags, {0, -below})) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  ImGui::TableSetupColumn("Name", ImGuiTableColumnFlags_WidthStretch | ImGuiTableColumnFlags_DefaultSort);
  ImGui::TableSetupColumn("Size", ImGuiTableColumnFlags_WidthFixed, look.px(90));
  ImGui::TableSetupColumn("Changed", ImGuiTableColumnFlags_WidthFixed, look.px(130));
  table_headers(1, 2);
  if (ImGuiTableSortSpecs* const sorting = ImGui::TableGetSortSpecs(); sorting != nullptr && sorting->SpecsCount > 0) {
    const ImGuiTableColumnSortSpecs& by = sorting->Specs[0];
    if (sorting->SpecsDirty || dialog.is_unsorted)
      sort_entries(dialog.entries, static_cast<EntryOrder>(by.ColumnIndex),
                   by.SortDirection == ImGuiSortDirection_Ascending);
    sorting->SpecsDirty = dialog.is_unsorted = false;
  }
  const bool is_typed = find_typed(dialog);
  std::size_t left_out = 0;
  for (const FolderEntry& entry : dialog.entries) {
    const bool wanted = entry.is_folder || entry.is_profile || dialog.all_files;
    if (wanted) {
      draw_entry(dialog, listing, entry, commands);
      if (is_typed && entry.name == dialog.chosen) ImGui::SetScrollHereY();
    } else {
      ++left_out;
    }
  }
  ImGui::EndTable();
  if (left_out > 0) {
    const std::string hidden = text_from_count(static_cast<std::int64_t>(left_out)) +
                               (left_out == 1 ? " file hidden (show all)" : " files hidden (show all)") + "###all";
    if (link(hidden.c_str())) dialog.all_files = true;
    tooltip("Their endings are unknown. What a file is, hbmscope finds out from its contents.");
  } else if (dialog.all_files && link("Hide other files###all")) {
    dialog.all_files = false;
  } else {
    ImGui::AlignTextToFramePadding();
    dim_text(text_from_count(static_cast<std::int64_t>(listing.entries.size())) + " entries");
  }
}

// What is there is written over only by a second press, which is no double click.
void write_chosen(FileDialogState& dialog, const FolderListing& listing, CommandQueue& commands) {
  const std::string path = join(listing.folder, dialog.file_name);
  std::error_code ignored;
  const bool is_there = std::filesystem::exists(path, ignored);
  if (is_there && (dialog.replaces != path || ImGui::GetIO().MouseClickedLastCount[0] > 1)) {
    dialog.replaces = path;
    return;
  }
  open_chosen(dialog.shown, path, commands);
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
    const bool replaces = !dialog.file_name.empty() && dialog.replaces == join(listing.folder, dialog.file_name);
    if (ImGui::Button(replaces ? "Replace###Write" : "Write###Write")) write_chosen(dialog, listing, commands);
    ImGui::EndDisabled();
    if (replaces) tooltip(dialog.file_name + " is there already, and is written over.");
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
  if (dialog.shown == Dialog::export_file && !dialog.replaces.empty() &&
      dialog.replaces == join(listing.folder, dialog.file_name)) {
    ImGui::SameLine();
    text(shortened(dialog.file_name + " is there already. Replace it?", ImGui::GetContentRegionAvail().x));
  }
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
    dialog.replaces.clear();
    dialog.file_name = wanted == Dialog::export_file ? suggested_export_name(state) : "";
    commands.push(command::list_folder, "");
  }
  const Look look(state);
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowSize(
      {std::min(look.px(860), viewport.WorkSize.x * 0.9F), std::min(look.px(520), viewport.WorkSize.y * 0.8F)},
      ImGuiCond_Appearing);
  ImGui::SetNextWindowPos(viewport.GetWorkCenter(), ImGuiCond_Appearing, {0.5F, 0.5F});
  if (appeared) ImGui::SetNextWindowFocus();
  bool open = true;
  ImGui::PushStyleColor(ImGuiCol_WindowBg, ImGui::GetStyle().Colors[ImGuiCol_PopupBg]);
  if (ImGui::Begin(title_of(wanted), &open,
                   ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoCollapse)) {
    cover_what_is_behind();
    const auto listing = state.folder.value;
    if (listing && dialog.listed != listing) {
      dialog.listed = listing;
      dialog.path = listing->folder;
      dialog.entries = listing->entries;
      dialog.is_unsorted = true;
      dialog.chosen.clear();
    }
    draw_path_line(dialog, listing.get(), commands);
    if (state.folder.failed()) draw_error(state, state.folder.error);
    if (listing) {
      if (ImGui::GetContentRegionAvail().x > look.px(520)) draw_places(state, look, commands);
      ImGui::BeginGroup();
      draw_entries(look, dialog, *listing, commands);
      draw_buttons(dialog, *listing, commands);
      ImGui::EndGroup();
    }
    const bool is_focused = ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows);
    // Unless it means a button or a field.
    const bool is_enter = is_focused && ImGui::IsKeyPressed(ImGuiKey_Enter, false) && !ImGui::IsAnyItemActive() &&
                          !ImGui::GetIO().NavVisible;
    if (is_enter && !appeared && listing && wanted == Dialog::export_file && !dialog.file_name.empty())
      write_chosen(dialog, *listing, commands);
    if (is_focused && ImGui::IsKeyPressed(ImGuiKey_Escape, false)) open = false;
  }
  ImGui::End();
  ImGui::PopStyleColor();
  if (!open) commands.push(CommandId::close_dialog);
}

}  // namespace hbmscope::gui
