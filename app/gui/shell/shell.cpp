#include "app/gui/shell/shell.h"

#include <string>

#include <imgui.h>

#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/shell/answer_bar.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/first_launch.h"
#include "app/gui/shell/keys.h"
#include "app/gui/shell/menu_bar.h"
#include "app/gui/shell/status_line.h"
#include "app/gui/shell/view_states.h"
#include "app/gui/views/device_cards/draw_device_cards.h"
#include "app/gui/views/sources_panel/draw_sources_panel.h"

namespace hbmscope::gui {
namespace {

// Views that are not side by side have one instance, which shows the active side.
void draw_one_side(const AppState& state, ViewStates& views, const ViewRow& row, CommandQueue& commands) {
  for (std::uint8_t question = 0; question < static_cast<std::uint8_t>(Question::count_); ++question)
    if (row.asks.has(static_cast<Question>(question))) commands.ask(static_cast<Question>(question));
  const std::size_t side = row.is_side_by_side ? state.context_index() : 0;
  views.drawn[side][static_cast<std::size_t>(row.kind)]->draw(state, commands);
}

void draw_view_inside(const AppState& state, ViewStates& views, const ViewRow& row, CommandQueue& commands) {
  if (!state.is_split() || !row.is_side_by_side) return draw_one_side(state, views, row, commands);
  draw_sides(state, row, views.side_focus, commands, [&] { draw_one_side(state, views, row, commands); });
}

bool is_anything_pressed() {
  for (int button = 0; button < ImGuiMouseButton_COUNT; ++button)
    if (ImGui::IsMouseClicked(button)) return true;
  for (int key = ImGuiKey_NamedKey_BEGIN; key < ImGuiKey_NamedKey_END; ++key)
    if (ImGui::IsKeyPressed(static_cast<ImGuiKey>(key))) return true;
  return false;
}

// A view comes to the front through a command or because the user clicked on it. App must be notified of clicks; where
// a window that had the focus disappears, the focus goes somewhere that nobody chose.
void note_focus(const AppState& state, ViewStates& views, ViewKind kind, CommandQueue& commands) {
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) return;
  constexpr int frames_of_input = 3;
  if (views.focused == kind || views.settling > 0 || views.frames_since_input > frames_of_input) return;
  views.focused = kind;
  if (state.position().view != kind) commands.push(command::note_view, kind);
}

void draw_view(const AppState& state, ViewStates& views, const ViewRow& row, CommandQueue& commands) {
  const bool has_dot = row.has_notes != nullptr && row.has_notes(state);
  const ImGuiWindowFlags dot = has_dot ? ImGuiWindowFlags_UnsavedDocument : 0;
  if (begin_docked(row.title, dot | ImGuiWindowFlags_NoFocusOnAppearing)) {
    note_focus(state, views, row.kind, commands);
    draw_view_inside(state, views, row, commands);
  }
  ImGui::End();
}

// Brings the view that a command requested to the front as soon as its window exists.
void follow_view(const AppState& state, ViewStates& views) {
  if (views.view_seen == state.window.view_serial && views.settling != 1) return;
  views.view_seen = state.window.view_serial;
  views.focused = state.position().view;
  ImGui::SetWindowFocus(row_of(state.position().view).title);
  bring_to_front(state.position().view);  // Focus alone does not scroll a long strip of tabs to it.
}

// It takes its room, from Sources, only while something is selected.
void draw_docked_inspector(const AppState& state, ViewStates& views, CommandQueue& commands) {
  const bool is_open = has_selection(state.position());
  if (is_open != views.inspector_open)
    views.moving_frames = 3;  // Until the other docks have taken its room, or left it.
  views.inspector_open = is_open;
  if (!is_open) return;
  if (begin_docked("Inspector", ImGuiWindowFlags_NoFocusOnAppearing)) draw_inspector(state, views.inspector, commands);
  ImGui::End();
}

void draw_docked_views(const AppState& state, ViewStates& views, CommandQueue& commands) {
  if (begin_docked("Sources")) draw_sources(state, views.bookmarks, commands);
  ImGui::End();
  draw_docked_inspector(state, views, commands);
  for (const ViewRow& row : view_table())
    if (view_exists(state, row.kind)) draw_view(state, views, row, commands);
  follow_view(state, views);
  bring_new_views_forward(state, views);
  put_tabs_in_order(state, views);
}

void draw_maximised(const AppState& state, ViewStates& views, CommandQueue& commands) {
  if (ImGui::BeginChild("maximised", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding)) {
    const ViewRow& row = row_of(state.position().view);
    bold_text(row.title);
    ImGui::SameLine();
    if (link("Show all views")) commands.push(CommandId::maximise);
    draw_view_inside(state, views, row, commands);
  }
  ImGui::EndChild();
}

// The main window: menu, filter line, docks or the first-launch screen, status line.
void draw_ground(const AppState& state, ViewStates& views, CommandQueue& commands) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::SetNextWindowViewport(viewport.ID);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  // Every frame begins with this colour.
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoDecoration |
                                     ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoBringToFrontOnFocus |
                                     ImGuiWindowFlags_NoNavFocus | ImGuiWindowFlags_NoDocking |
                                     ImGuiWindowFlags_NoSavedSettings;
  // A picture that is written to a file has no menu.
  const bool has_menu = state.window.tiles.empty() || !state.sources.empty();
  ImGui::Begin("hbmscope", nullptr, flags | (has_menu ? ImGuiWindowFlags_MenuBar : 0));
  ImGui::PopStyleVar(2);
  if (has_menu) draw_menu_bar(state, commands);
  if (!state.window.tiles.empty()) {
    draw_tiles_alone(state, views.tiles, commands);
  } else if (state.sources.empty()) {
    draw_first_launch(state, views.first_jobs, commands);
  } else {
    draw_answer_bar(state, commands);
    draw_filter_line(state, views.filter, commands);
    draw_device_cards(state, commands);
    draw_attached_line(state);
    const float status = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemSpacing.y;
    ImGui::BeginChild("docks", {0, -status});
    if (state.window.maximised && view_exists(state, state.position().view)) {
      draw_maximised(state, views, commands);
    } else {
      make_dock_space(state, views);
    }
    ImGui::EndChild();
    draw_status_line(state, commands);
  }
  ImGui::End();
}

void follow_clipboard(const AppState& state, ViewStates& views) {
  if (views.clipboard_seen == state.window.clipboard_serial) return;
  views.clipboard_seen = state.window.clipboard_serial;
  ImGui::SetClipboardText(state.window.clipboard.c_str());
}

// A page asks the browser for both: app/web.
void follow_paste(const AppState& state, ViewStates& views, CommandQueue& commands) {
  if (views.paste_seen == state.window.paste_serial) return;
  views.paste_seen = state.window.paste_serial;
  const char* text = ImGui::GetClipboardText();
  commands.push(command::open_text, std::string(text != nullptr ? text : ""));
}

}  // namespace

ViewStates::ViewStates() {
  for (auto& side : drawn) {
#define X(name) side[static_cast<std::size_t>(ViewKind::name)] = make_##name();
    HBMSCOPE_VIEWS(X)
#undef X
  }
}

ShellState::ShellState() : views(std::make_unique<ViewStates>()) {}
ShellState::~ShellState() = default;

void draw_shell(const AppState& state, ShellState& shell, CommandQueue& commands) {
  ViewStates& views = *shell.views;
  commands.begin_frame(state.active_context);
  views.frames_since_input = is_anything_pressed() ? 0 : views.frames_since_input + 1;
  follow_clipboard(state, views);
  if (state.host == Host::desktop) follow_paste(state, views, commands);
  handle_keys(commands);
  draw_ground(state, views, commands);
  const bool has_docks = !state.sources.empty() && !state.window.maximised && state.window.tiles.empty();
  if (has_docks) draw_docked_views(state, views, commands);
  if (state.host == Host::desktop) draw_file_dialog(state, views.dialog, commands);
  draw_palette(state, views.palette, commands);
  draw_help(state, views.help, commands);
  draw_settings(state, views.settings, commands);
  draw_jobs_window(state, views.jobs, commands);
  if (views.settling > 0) --views.settling;
  if (views.moving_frames > 0) --views.moving_frames;
  // A new question, or docks that are not in place yet, need another frame.
  if (commands.frames_requested() != views.frames_requested || views.settling > 0 || views.reorder > 0 ||
      views.moving_frames > 0)
    commands.push(CommandId::draw_again);
  views.frames_requested = commands.frames_requested();
}

}  // namespace hbmscope::gui
