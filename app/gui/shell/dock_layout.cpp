#include "app/gui/shell/dock_layout.h"

#include <algorithm>
#include <bitset>
#include <vector>

#include <imgui.h>
#include <imgui_internal.h>  // The dock builder has no public API yet.

#include "app/gui/core/source_facts.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
bool begin_docked(const char* title, ImGuiWindowFlags flags) {
  const ImGuiWindow* window = ImGui::FindWindowByName(title);
  if (window != nullptr && window->DockNode != nullptr && ImGui::DockNodeGetRootNode(window->DockNode)->IsDockSpace())
    ImGui::SetNextWindowBgAlpha(0);
  return ImGui::Begin(title, nullptr, flags);
}

bool bring_to_front(ViewKind kind) {
  ImGuiWindow* window = ImGui::FindWindowByName(row_of(kind).title);
  if (window == nullptr || !window->WasActive || window->DockNode == nullptr || window->DockNode->TabBar == nullptr)
    return false;
  window->DockNode->TabBar->NextSelectedTabId = window->TabId;
  return true;
}

namespace {

void dock(const ViewRow& row, ImGuiID node) {
  ImGui::DockBuilderDockWindow(row.title, node);
}

// Both layouts begin with this: sources on the left, with the inspector below them while something is selected. The
// pictures keep their places when it opens: a click must not move what lies under the pointer.
ImGuiID begin_layout(ImGuiID space, ImVec2 size) {
  ImGui::DockBuilderRemoveNode(space);
  ImGui::DockBuilderAddNode(space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(space, size);
  ImGuiID rest = space;
  // Names of heaps and devices also need room with large text.
  const float names = std::clamp(20 * ImGui::GetFontSize() / size.x, 0.18F, 0.24F);
  ImGuiID sources = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, names, nullptr, &rest);
  const ImGuiID inspector = ImGui::DockBuilderSplitNode(sources, ImGuiDir_Down, 0.6F, nullptr, &sources);
  ImGui::DockBuilderDockWindow("Sources", sources);
  ImGui::DockBuilderDockWindow("Inspector", inspector);
  return rest;
}

void build_for_profile(ImGuiID space, ImVec2 size, bool is_low) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.46F, nullptr, &rest);
  const ImGuiID centre_left = is_low ? rest : ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, 0.42F, nullptr, &rest);
  for (const ViewRow& row : view_table()) {
    if (row.needs_addresses) continue;
    const bool is_left = row.in_profile == DockPlace::centre, is_right = row.in_profile == DockPlace::right;
    dock(row, is_left ? centre_left : is_right ? rest : bottom);
  }
  ImGui::DockBuilderFinish(space);
}

// The timeline above the heap map, and everything else in tabs below them. The timeline is the largest: at 1920 x 1080
// its plot has 300 px. In a low window the two are tabs of one place.
void build_for_trace(ImGuiID space, ImVec2 size, bool is_low) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, is_low ? 0.4F : 0.24F, nullptr, &rest);
  const ImGuiID middle = is_low ? rest : ImGui::DockBuilderSplitNode(rest, ImGuiDir_Up, 0.7F, nullptr, &rest);
  for (const ViewRow& row : view_table())
    dock(row, row.in_trace == DockPlace::centre ? rest : row.in_trace == DockPlace::middle ? middle : bottom);
  ImGui::DockBuilderFinish(space);
}

// The failure on the left, the text on the right, and everything else below them.
void build_for_text(ImGuiID space, ImVec2 size, bool is_low) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.25F, nullptr, &rest);
  const ImGuiID right = is_low ? bottom : ImGui::DockBuilderSplitNode(rest, ImGuiDir_Right, 0.5F, nullptr, &rest);
  for (const ViewRow& row : view_table())
    dock(row, row.kind == ViewKind::failure ? rest : row.kind == ViewKind::source ? right : bottom);
  ImGui::DockBuilderFinish(space);
}

void build(LayoutKind kind, ImGuiID space) {
  // Splitting nothing would leave nodes without a size.
  const ImVec2 room = ImGui::GetContentRegionAvail(), size{std::max(room.x, 400.0F), std::max(room.y, 300.0F)};
  switch (kind) {
    case LayoutKind::profile:
    case LayoutKind::low_profile: return build_for_profile(space, size, is_low(kind));
    case LayoutKind::trace:
    case LayoutKind::low_trace: return build_for_trace(space, size, is_low(kind));
    case LayoutKind::text:
    case LayoutKind::low_text: return build_for_text(space, size, is_low(kind));
  }
}

LayoutKind layout_of(const AppState& state, bool is_low) {
  if (!state.source()->trace) return is_low ? LayoutKind::low_profile : LayoutKind::profile;
  if (why_no_blocks(state).empty()) return is_low ? LayoutKind::low_trace : LayoutKind::trace;
  return is_low ? LayoutKind::low_text : LayoutKind::text;
}

bool is_for_profiles(LayoutKind kind) {
  return kind == LayoutKind::profile || kind == LayoutKind::low_profile;
}

// ImGui gives the central node what the others leave: in a window that became smaller nothing was left for the heap
// map. Without one, all views share the loss.
void share_sizes(ImGuiID space) {
  ImGuiDockNode* const central = ImGui::DockBuilderGetCentralNode(space);
  if (central == nullptr || central->IsRootNode()) return;
  central->SetLocalFlags(central->LocalFlags & ~ImGuiDockNodeFlags_CentralNode);
  ImGui::DockBuilderGetNode(space)->CentralNode = nullptr;
}

// A layout of an older version may lack a view.
bool has_places(LayoutKind kind) {
  return std::all_of(view_table().begin(), view_table().end(), [&](const ViewRow& row) {
    return (is_for_profiles(kind) && row.needs_addresses) || ImGui::FindWindowByName(row.title) != nullptr ||
           ImGui::FindWindowSettingsByID(ImHashStr(row.title)) != nullptr;
  });
}

DockPlace place_of(const ViewRow& row, LayoutKind kind) {
  return is_for_profiles(kind) ? row.in_profile : row.in_trace;
}

// The tab that is in front at first in each place: the existing view with the highest rank.
void choose_tab(LayoutKind kind, DockPlace place) {
  std::vector<const ViewRow*> rows;
  for (const ViewRow& row : view_table())
    if (place_of(row, kind) == place && row.opens_first > 0) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [](const ViewRow* a, const ViewRow* b) { return a->opens_first > b->opens_first; });
  for (const ViewRow* row : rows)
    if (bring_to_front(row->kind)) return;
}

void choose_tabs(LayoutKind kind) {
  // The middle comes last: in a low window its view is a tab at the bottom, and must be in front there.
  for (const DockPlace place : {DockPlace::centre, DockPlace::below, DockPlace::middle}) choose_tab(kind, place);
}

}  // namespace

// A new tab appears at the end. Once it exists, it moves to its place in the layout.
void put_tabs_in_order(const AppState& state, ViewStates& views) {
  std::bitset<view_count> there;
  for (const ViewRow& row : view_table()) there[static_cast<std::size_t>(row.kind)] = view_exists(state, row.kind);
  if (there != views.views_there) views.reorder = 3;
  views.views_there = there;
  if (views.reorder == 0 || --views.reorder > 0) return;
  const ImGuiWindow* last = ImGui::FindWindowByName(view_table().back().title);
  if (last == nullptr || last->DockNode == nullptr || last->DockNode->TabBar == nullptr) return;
  ImVector<ImGuiTabItem>& tabs = last->DockNode->TabBar->Tabs;
  const auto rank = [](const ImGuiTabItem& tab) {
    std::size_t place = 0;
    for (const ViewRow& row : view_table()) {
      const ImGuiWindow* window = ImGui::FindWindowByName(row.title);
      if (window != nullptr && window->TabId == tab.ID) return place;
      ++place;
    }
    return place;
  };
  std::stable_sort(tabs.begin(), tabs.end(),
                   [&](const ImGuiTabItem& a, const ImGuiTabItem& b) { return rank(a) < rank(b); });
  // The active tab has moved, so the strip has to scroll to it again.
  ImGuiTabBar& bar = *last->DockNode->TabBar;
  if (bar.NextSelectedTabId == 0) bar.NextSelectedTabId = bar.SelectedTabId;
}

// A strip that is too long scrolls to its active tab over many frames, but an idle window draws none.
void settle_tab_strips() {
  for (const ViewRow& row : view_table()) {
    const ImGuiWindow* window = ImGui::FindWindowByName(row.title);
    if (window == nullptr || window->DockNode == nullptr || window->DockNode->TabBar == nullptr) continue;
    window->DockNode->TabBar->ScrollingAnim = window->DockNode->TabBar->ScrollingTarget;
  }
}

namespace {

// Brings the view to the front in its place without taking the focus, since the user may be dragging a range in the
// timeline.
void come_forward_when_it_appears(const ViewRow& row, bool exists, ViewStates& views) {
  const auto kind = static_cast<std::size_t>(row.kind);
  if (!exists) views.came_forward[kind] = false;
  if (exists && !views.came_forward[kind]) views.came_forward[kind] = bring_to_front(row.kind);
}

void come_forward_once_a_file(const AppState& state, const ViewRow& row, bool exists, ViewStates& views) {
  const Source* source = state.source();
  if (!exists || source == nullptr || source->live || source->ended || views.settling > 0) return;
  if (views.came_for_file.contains({source->id, row.kind})) return;
  // The user selected another tab in this place, or another view has priority.
  const ViewRow& in_front = row_of(state.position().view);
  const bool is_asked = in_front.in_trace == row.in_trace && in_front.kind != row.kind;
  const bool has_other_first = std::any_of(view_table().begin(), view_table().end(), [&](const ViewRow& other) {
    return other.in_trace == row.in_trace && other.opens_first > row.opens_first && view_exists(state, other.kind);
  });
  if (is_asked || has_other_first || bring_to_front(row.kind)) views.came_for_file.insert({source->id, row.kind});
}

}  // namespace

void bring_new_views_forward(const AppState& state, ViewStates& views) {
  // Of the pictures, only the timeline shows all devices.
  const bool shows_all = state.position().all_devices;
  if (shows_all && !views.shows_all_devices) bring_to_front(ViewKind::timeline);
  views.shows_all_devices = shows_all;
  for (const ViewRow& row : view_table()) {
    const bool exists = view_exists(state, row.kind);
    if (row.comes_forward == ComesForward::when_it_appears) come_forward_when_it_appears(row, exists, views);
    if (row.comes_forward == ComesForward::once_a_file) come_forward_once_a_file(state, row, exists, views);
  }
}

void make_dock_space(const AppState& state, ViewStates& views) {
  const ImGuiID space = ImGui::GetID("dock space");
  // While a file is read, its kind is unknown.
  const Source* source = state.source();
  const bool is_known = source != nullptr && source->state == AnswerState::ready;
  const LayoutKind kind =
      is_known ? layout_of(state, is_low_window()) : views.layouts.shown().value_or(LayoutKind::profile);
  const auto shown = views.layouts.shown();
  const bool is_other_kind = shown != kind;
  const bool is_kept = is_other_kind ? views.layouts.show(kind) : ImGui::DockBuilderGetNode(space) != nullptr;
  const bool is_reset = views.layout_seen != state.window.layout_serial;
  if (is_reset || !is_kept || !has_places(kind)) build(kind, space);
  share_sizes(space);
  // Windows appear in their places; the focus changes that this causes are not the user's.
  const bool is_other_file = views.file_seen != state.window.file_serial;
  if (is_reset || is_other_kind || is_other_file || !views.layout_made) views.settling = 4;
  // A window that only became lower or higher has the tabs in front that were there before.
  if (is_other_kind) views.keeps_tabs = is_kept && shown && is_low(*shown) != is_low(kind);
  if (is_reset || is_other_file || !views.layout_made) views.keeps_tabs = false;
  views.file_seen = state.window.file_serial;
  views.layout_seen = state.window.layout_serial;
  views.layout_made = true;
  settle_tab_strips();
  ImGui::DockSpace(space, {0, 0}, ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  if (views.settling == 2 && !views.keeps_tabs) choose_tabs(kind);
}

}  // namespace hbmscope::gui
