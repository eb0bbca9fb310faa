#include "app/gui/views/dock_layout.h"

#include <string>

#include <imgui.h>
#include <imgui_internal.h>  // The dock builder; it has no other door yet.

namespace hbmscope::gui {
namespace {

void dock(ViewKind kind, ImGuiID node) {
  ImGui::DockBuilderDockWindow(std::string(name_of(kind).window).c_str(), node);
}

// The head of both layouts: sources left, inspector right.
ImGuiID begin_layout(ImGuiID space, ImVec2 size) {
  ImGui::DockBuilderRemoveNode(space);
  ImGui::DockBuilderAddNode(space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(space, size);
  ImGuiID rest = space;
  const ImGuiID left = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, 0.16F, nullptr, &rest);
  const ImGuiID right = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Right, 0.25F, nullptr, &rest);
  ImGui::DockBuilderDockWindow("Sources", left);
  ImGui::DockBuilderDockWindow("Inspector", right);
  return rest;
}

void build_for_profile(ImGuiID space, ImVec2 size) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.46F, nullptr, &rest);
  const ImGuiID centre_left = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, 0.42F, nullptr, &rest);
  dock(ViewKind::summary, centre_left);
  dock(ViewKind::totals, centre_left);
  dock(ViewKind::flame, rest);
  for (const ViewKind kind : {ViewKind::top, ViewKind::call_tree, ViewKind::diff, ViewKind::source, ViewKind::import})
    dock(kind, bottom);
  ImGui::DockBuilderFinish(space);
}

// The heap map over the timeline, everything about stacks below them.
void build_for_trace(ImGuiID space, ImVec2 size) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.32F, nullptr, &rest);
  const ImGuiID middle = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.36F, nullptr, &rest);
  dock(ViewKind::heap_map, rest);
  dock(ViewKind::timeline, middle);
  for (const ViewKind kind : {ViewKind::summary, ViewKind::flame, ViewKind::top, ViewKind::call_tree, ViewKind::blocks,
                              ViewKind::events, ViewKind::diff, ViewKind::source, ViewKind::totals, ViewKind::import})
    dock(kind, bottom);
  ImGui::DockBuilderFinish(space);
}

// Which tab of each group is in front at first.
void choose_tabs() {
  for (const ViewKind kind : {ViewKind::summary, ViewKind::top}) {
    const std::string name(name_of(kind).window);
    ImGuiWindow* window = ImGui::FindWindowByName(name.c_str());
    if (window == nullptr || window->DockNode == nullptr || window->DockNode->TabBar == nullptr) continue;
    window->DockNode->TabBar->NextSelectedTabId = window->TabId;
  }
}

}  // namespace

bool view_exists(const AppState& state, ViewKind kind) {
  switch (kind) {
    case ViewKind::diff: return state.sources.size() >= 2;
    case ViewKind::totals: return state.ready_sources() >= 2;
    case ViewKind::heap_map:
    case ViewKind::timeline:
    case ViewKind::blocks:
    case ViewKind::events: return state.source() != nullptr && state.source()->trace != nullptr;
    default: return true;
  }
}

void put_import_last(const AppState& state, ViewStates& views) {
  int tabs_there = 0;
  for (const ViewName& name : view_names) tabs_there += view_exists(state, name.kind) ? 1 : 0;
  if (tabs_there > views.tabs_there) views.reorder = 3;  // By then the new tab is where ImGui puts it.
  views.tabs_there = tabs_there;
  if (views.reorder == 0 || --views.reorder > 0) return;
  ImGuiWindow* import = ImGui::FindWindowByName("Import");
  if (import == nullptr || import->DockNode == nullptr || import->DockNode->TabBar == nullptr) return;
  ImGuiTabBar* tabs = import->DockNode->TabBar;
  ImGuiTabItem* tab = ImGui::TabBarFindTabByID(tabs, import->TabId);
  if (tab == nullptr) return;
  const int distance = tabs->Tabs.Size - 1 - tabs->Tabs.index_from_ptr(tab);
  if (distance > 0) ImGui::TabBarQueueReorder(tabs, tab, distance);
}

void make_dock_space(const AppState& state, ViewStates& views) {
  const ImGuiID space = ImGui::GetID("dock space");
  const bool remembered = ImGui::DockBuilderGetNode(space) != nullptr;
  // A trace and a profile have other views, so each begins with its own layout. While a file is read, nobody knows.
  const Source* source = state.source();
  const bool is_known = source != nullptr && source->state == AnswerState::ready;
  const bool of_trace = is_known ? source->trace != nullptr : views.of_trace.value_or(false);
  const bool has_place = !of_trace || ImGui::FindWindowSettingsByID(ImHashStr("Heap map")) != nullptr ||
                         ImGui::FindWindowByName("Heap map") != nullptr;
  const bool is_other_kind = views.layout_made && is_known && views.of_trace.value_or(false) != of_trace;
  const bool reset = views.layout_seen != state.window.layout_serial || !has_place || is_other_kind;
  if (is_known) views.of_trace = of_trace;
  if (reset || !(views.layout_made || remembered)) {
    of_trace ? build_for_trace(space, ImGui::GetContentRegionAvail())
             : build_for_profile(space, ImGui::GetContentRegionAvail());
    views.settling = 4;
  } else if (!views.layout_made) {
    views.settling = 4;  // Windows appear in their remembered places; who gets the focus is not a person's doing.
  }
  views.layout_seen = state.window.layout_serial;
  views.layout_made = true;
  ImGui::DockSpace(space, {0, 0}, ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  if (views.settling == 2) choose_tabs();
}

}  // namespace hbmscope::gui
