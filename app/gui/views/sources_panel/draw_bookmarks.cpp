#include "app/gui/views/sources_panel/draw_bookmarks.h"

#include <imgui.h>

#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"

namespace hbmscope::gui {
namespace {

// Enter, or a click elsewhere, keeps the note; Escape leaves it as it was.
void draw_note_field(const AppState& state, const Bookmark& bookmark, BookmarksState& view, CommandQueue& commands) {
  if (view.edited != bookmark.id) view = {bookmark.id, bookmark.note, false};
  if (!view.has_keyboard) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  text_field("##note", "Note (Enter keeps it)", view.typed);
  if (ImGui::IsItemActive()) view.has_keyboard = true;
  if (!ImGui::IsItemDeactivated()) return;
  // After Escape the field has its first text again.
  commands.push(command::note_bookmark, {bookmark.id, view.typed});
  view = {};
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  // The keyboard goes back to the view in front, and not to the button that is next to the field.
  commands.push(command::set_view, state.position().view);
  ImGui::SetNavCursorVisible(false);
}

void draw_menu(const Bookmark& bookmark, CommandQueue& commands) {
  if (!ImGui::BeginPopupContextItem("bookmark")) return;
  if (ImGui::MenuItem("Go there")) commands.push(command::go_to_bookmark, bookmark.id);
  if (ImGui::MenuItem("Edit note")) commands.push(command::edit_bookmark, bookmark.id);
  if (ImGui::MenuItem("Copy as command")) commands.push(command::copy_bookmark, bookmark.id);
  ImGui::Separator();
  if (ImGui::MenuItem("Delete")) commands.push(command::delete_bookmark, bookmark.id);
  ImGui::EndPopup();
}

}  // namespace

void draw_bookmarks(const AppState& state, const Source& source, BookmarksState& view, CommandQueue& commands) {
  const std::vector<Bookmark>& bookmarks = bookmarks_of(state, source);
  if (bookmarks.empty()) return;
  ImGui::Spacing();
  dim_text("Bookmarks");
  for (const Bookmark& bookmark : bookmarks) {
    ImGui::PushID(static_cast<int>(bookmark.id));
    if (state.window.noted_bookmark == bookmark.id) {
      draw_note_field(state, bookmark, view, commands);
    } else {
      const std::string name = shortened(bookmark.name(), ImGui::GetContentRegionAvail().x);
      if (ImGui::Selectable((name + "###row").c_str())) commands.push(command::go_to_bookmark, bookmark.id);
      draw_menu(bookmark, commands);
      tooltip(bookmark.note.empty() ? bookmark.title : bookmark.note + "\n" + bookmark.title);
    }
    ImGui::PopID();
  }
}

}  // namespace hbmscope::gui
