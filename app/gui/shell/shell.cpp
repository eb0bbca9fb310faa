#include "app/gui/shell/shell.h"

#include <string>

#include <imgui.h>

#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/trace_head.h"
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

void draw_one_side(const AppState& state, ViewStates& views, ViewKind kind, CommandQueue& commands) {
  SideStates& side = views.sides[state.context_index()];
  switch (kind) {
    case ViewKind::heap_map: return draw_heap_map(state, side.heap_map, commands);
    case ViewKind::timeline: return draw_timeline(state, side.timeline, commands);
    case ViewKind::failure: return draw_failure(state, views.failure, commands);
    case ViewKind::fragmentation: return draw_fragmentation(state, views.fragmentation, commands);
    case ViewKind::address_time: return draw_address_time(state, side.address_time, commands);
    case ViewKind::sizes: return draw_sizes(state, views.sizes, commands);
    case ViewKind::range: return draw_range(state, views.range, commands);
    case ViewKind::compare: return draw_compare(state, views.compare, commands);
    case ViewKind::beside: return draw_beside(state, views.beside, commands);
    case ViewKind::blocks: return draw_blocks(state, views.blocks, commands);
    case ViewKind::events: return draw_events(state, views.events, commands);
    case ViewKind::summary: return draw_summary(state, views.summary, commands);
    case ViewKind::flame: return draw_flame_graph(state, side.flame, commands);
    case ViewKind::top: return draw_top(state, views.top, commands);
    case ViewKind::call_tree: return draw_call_tree(state, views.tree, commands);
    case ViewKind::diff: return draw_diff(state, views.diff, commands);
    case ViewKind::source: return draw_source(state, views.source, commands);
    case ViewKind::totals: return draw_totals(state, views.totals, commands);
    case ViewKind::import: return draw_import(state, views.import, commands);
    case ViewKind::tpu: return draw_tpu(state, views.tpu, commands);
  }
}

void draw_view_inside(const AppState& state, ViewStates& views, ViewKind kind, CommandQueue& commands) {
  if (!state.is_split() || !is_side_by_side(kind)) return draw_one_side(state, views, kind, commands);
  draw_sides(state, kind, views.side_focus, commands, [&] { draw_one_side(state, views, kind, commands); });
}

ImGuiWindowFlags flags_of(const AppState& state, ViewKind kind) {
  // The dot on the tab: there is something to read.
  if (kind == ViewKind::import && count_of_import_notes(state) > 0) return ImGuiWindowFlags_UnsavedDocument;
  return 0;
}

// A view is in front because a command said so, or because the person clicked it; the second is told to the App.
void note_focus(const AppState& state, ViewStates& views, ViewKind kind, CommandQueue& commands) {
  if (!ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) return;
  if (views.focused == kind || views.settling > 0) return;
  views.focused = kind;
  if (state.position().view != kind) commands.push(command::note_view, kind);
}

void draw_view(const AppState& state, ViewStates& views, ViewKind kind, CommandQueue& commands) {
  const std::string name(name_of(kind).window);
  if (ImGui::Begin(name.c_str(), nullptr, flags_of(state, kind) | ImGuiWindowFlags_NoFocusOnAppearing)) {
    note_focus(state, views, kind, commands);
    draw_view_inside(state, views, kind, commands);
  }
  ImGui::End();
}

// Brings the view that a command named to the front, as soon as its window exists.
void follow_view(const AppState& state, ViewStates& views) {
  if (views.view_seen == state.window.view_serial && views.settling != 1) return;
  views.view_seen = state.window.view_serial;
  views.focused = state.position().view;
  ImGui::SetWindowFocus(std::string(name_of(state.position().view).window).c_str());
  bring_to_front(state.position().view);  // The focus alone does not scroll a long strip of tabs to it.
}

void draw_docked_views(const AppState& state, ViewStates& views, CommandQueue& commands) {
  if (ImGui::Begin("Sources")) draw_sources(state, commands);
  ImGui::End();
  if (ImGui::Begin("Inspector")) draw_inspector(state, views.inspector, commands);
  ImGui::End();
  for (const ViewName& name : view_names)
    if (view_exists(state, name.kind)) draw_view(state, views, name.kind, commands);
  follow_view(state, views);
  follow_range(state, views);
  follow_beside(state, views);
  follow_failure(state, views);
  put_tabs_in_order(state, views);
}

void draw_maximised(const AppState& state, ViewStates& views, CommandQueue& commands) {
  if (ImGui::BeginChild("maximised", {0, 0}, ImGuiChildFlags_AlwaysUseWindowPadding)) {
    bold_text(name_of(state.position().view).window);
    ImGui::SameLine();
    if (link("Show all views")) commands.push(CommandId::maximise);
    draw_view_inside(state, views, state.position().view, commands);
  }
  ImGui::EndChild();
}

// The window that fills the display: menu, filter line, docks or the first-launch screen, status line.
void draw_ground(const AppState& state, ViewStates& views, CommandQueue& commands) {
  const ImGuiViewport& viewport = *ImGui::GetMainViewport();
  ImGui::SetNextWindowPos(viewport.WorkPos);
  ImGui::SetNextWindowSize(viewport.WorkSize);
  ImGui::SetNextWindowViewport(viewport.ID);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0.0F);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(0, 0));
  constexpr ImGuiWindowFlags flags = ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove |
                                     ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoNavFocus |
                                     ImGuiWindowFlags_NoDocking | ImGuiWindowFlags_NoSavedSettings;
  // Of a picture that is written to a file the menu is no part.
  const bool has_menu = state.window.tiles.empty() || !state.sources.empty();
  ImGui::Begin("hbmscope", nullptr, flags | (has_menu ? ImGuiWindowFlags_MenuBar : 0));
  ImGui::PopStyleVar(2);
  if (has_menu) draw_menu_bar(state, commands);
  if (!state.window.tiles.empty()) {
    draw_tiles_alone(state, views.tiles, commands);
  } else if (state.sources.empty()) {
    draw_first_launch(state, commands);
  } else {
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

}  // namespace

ShellState::ShellState() : views(std::make_unique<ViewStates>()) {}
ShellState::~ShellState() = default;

void draw_shell(const AppState& state, ShellState& shell, CommandQueue& commands) {
  ViewStates& views = *shell.views;
  commands.begin_frame(state.active_context);
  follow_clipboard(state, views);
  handle_keys(commands);
  draw_ground(state, views, commands);
  const bool has_docks = !state.sources.empty() && !state.window.maximised && state.window.tiles.empty();
  if (has_docks) draw_docked_views(state, views, commands);
  draw_file_dialog(state, views.dialog, commands);
  draw_palette(state, views.palette, commands);
  draw_help(state, views.help, commands);
  draw_jobs_window(state, views.jobs, commands);
  if (views.settling > 0) --views.settling;
  // A question that was not asked before, or docks that have not found their places yet, want one more frame.
  if (commands.asked() != views.asked || views.settling > 0 || views.reorder > 0) commands.push(CommandId::draw_again);
  views.asked = commands.asked();
}

}  // namespace hbmscope::gui
