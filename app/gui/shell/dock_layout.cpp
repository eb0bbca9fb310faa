#include "app/gui/shell/dock_layout.h"

#include <algorithm>
#include <string>

#include <imgui.h>
#include <imgui_internal.h>  // The dock builder; it has no other door yet.

namespace hbmscope::gui {
bool bring_to_front(ViewKind kind) {
  ImGuiWindow* window = ImGui::FindWindowByName(std::string(name_of(kind).window).c_str());
  if (window == nullptr || !window->WasActive || window->DockNode == nullptr || window->DockNode->TabBar == nullptr)
    return false;
  window->DockNode->TabBar->NextSelectedTabId = window->TabId;
  return true;
}

namespace {

// From left to right, of both kinds of files; a profile has summary, flame graph and totals elsewhere.
constexpr ViewKind bottom_tabs[] = {ViewKind::timeline,      ViewKind::tpu,       ViewKind::failure, ViewKind::beside,
                                    ViewKind::fragmentation, ViewKind::range,     ViewKind::compare, ViewKind::top,
                                    ViewKind::flame,         ViewKind::blocks,    ViewKind::sizes,   ViewKind::events,
                                    ViewKind::summary,       ViewKind::call_tree, ViewKind::diff,    ViewKind::source,
                                    ViewKind::totals,        ViewKind::import};

void dock(ViewKind kind, ImGuiID node) {
  ImGui::DockBuilderDockWindow(std::string(name_of(kind).window).c_str(), node);
}

// The head of both layouts: sources left, inspector right.
ImGuiID begin_layout(ImGuiID space, ImVec2 size) {
  ImGui::DockBuilderRemoveNode(space);
  ImGui::DockBuilderAddNode(space, ImGuiDockNodeFlags_DockSpace);
  ImGui::DockBuilderSetNodeSize(space, size);
  ImGuiID rest = space;
  // Names of heaps and devices need their width with large text too.
  const float names = std::clamp(14 * ImGui::GetFontSize() / size.x, 0.16F, 0.2F);
  const ImGuiID left = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, names, nullptr, &rest);
  const ImGuiID right = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Right, 0.25F, nullptr, &rest);
  ImGui::DockBuilderDockWindow("Sources", left);
  ImGui::DockBuilderDockWindow("Inspector", right);
  return rest;
}

// With large text or in a low window there is room for two above one another, not for three, and not for two beside one
// another in between.
bool is_low(ImVec2 size) {
  return size.y < ImGui::GetTextLineHeight() * 40;
}

void build_for_profile(ImGuiID space, ImVec2 size) {
  ImGuiID rest = begin_layout(space, size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.46F, nullptr, &rest);
  const ImGuiID centre_left =
      is_low(size) ? rest : ImGui::DockBuilderSplitNode(rest, ImGuiDir_Left, 0.42F, nullptr, &rest);
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
  const bool has_two = is_low(size);
  const ImGuiID bottom = ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, has_two ? 0.5F : 0.32F, nullptr, &rest);
  const ImGuiID middle = has_two ? bottom : ImGui::DockBuilderSplitNode(rest, ImGuiDir_Down, 0.46F, nullptr, &rest);
  dock(ViewKind::heap_map, rest);
  dock(ViewKind::address_time, rest);
  for (const ViewKind kind : bottom_tabs) dock(kind, kind == ViewKind::timeline ? middle : bottom);
  ImGui::DockBuilderFinish(space);
}

// Which tab of each group is in front at first.
void choose_tabs(bool of_trace) {
  if (!of_trace) {
    bring_to_front(ViewKind::summary);
    bring_to_front(ViewKind::top);
  } else {
    bring_to_front(ViewKind::heap_map);
    if (!bring_to_front(ViewKind::tpu) && !bring_to_front(ViewKind::beside) && !bring_to_front(ViewKind::failure))
      bring_to_front(ViewKind::fragmentation);
    bring_to_front(ViewKind::timeline);  // Where it shares its place with them.
  }
}

}  // namespace

// A tab that appears goes to the end; it is put where the layout has it, once it is there.
void put_tabs_in_order(const AppState& state, ViewStates& views) {
  std::uint32_t there = 0;
  for (const ViewName& name : view_names)
    if (view_exists(state, name.kind)) there |= 1U << static_cast<unsigned>(name.kind);
  if (there != views.views_there) views.reorder = 3;
  views.views_there = there;
  if (views.reorder == 0 || --views.reorder > 0) return;
  ImGuiWindow* import = ImGui::FindWindowByName("Import");
  if (import == nullptr || import->DockNode == nullptr || import->DockNode->TabBar == nullptr) return;
  ImVector<ImGuiTabItem>& tabs = import->DockNode->TabBar->Tabs;
  const auto rank = [](const ImGuiTabItem& tab) {
    std::size_t place = 0;
    for (const ViewKind kind : bottom_tabs) {
      const ImGuiWindow* window = ImGui::FindWindowByName(std::string(name_of(kind).window).c_str());
      if (window != nullptr && window->TabId == tab.ID) return place;
      ++place;
    }
    return place;
  };
  std::stable_sort(tabs.begin(), tabs.end(),
                   [&](const ImGuiTabItem& a, const ImGuiTabItem& b) { return rank(a) < rank(b); });
  // The one in front has moved: the strip has to scroll to it again.
  ImGuiTabBar& bar = *import->DockNode->TabBar;
  if (bar.NextSelectedTabId == 0) bar.NextSelectedTabId = bar.SelectedTabId;
}

// A strip too long for its place scrolls to the tab in front over many frames, and a window at rest draws none.
void settle_tab_strips() {
  for (const ViewName& name : view_names) {
    const ImGuiWindow* window = ImGui::FindWindowByName(std::string(name.window).c_str());
    if (window == nullptr || window->DockNode == nullptr || window->DockNode->TabBar == nullptr) continue;
    window->DockNode->TabBar->ScrollingAnim = window->DockNode->TabBar->ScrollingTarget;
  }
}

void follow_range(const AppState& state, ViewStates& views) {
  const bool has_range = view_exists(state, ViewKind::range);
  // It comes to the front where it is, without taking the focus: the hand that drags is over the timeline.
  if (!has_range) views.range_shown = false;
  if (has_range && !views.range_shown) views.range_shown = bring_to_front(ViewKind::range);
}

void follow_beside(const AppState& state, ViewStates& views) {
  const bool is_there = view_exists(state, ViewKind::beside);
  if (!is_there) views.beside_shown = false;
  if (is_there && !views.beside_shown) views.beside_shown = bring_to_front(ViewKind::beside);
}

void follow_failure(const AppState& state, ViewStates& views) {
  const Source* source = state.source();
  if (source == nullptr || source->live || source->ended || views.settling > 0) return;
  if (views.failures_shown.contains(source->id) || !view_exists(state, ViewKind::failure)) return;
  const ViewKind in_front = state.position().view;
  const bool is_asked = in_front != ViewKind::heap_map && in_front != ViewKind::timeline;
  const bool has_other_first = view_exists(state, ViewKind::tpu) || view_exists(state, ViewKind::beside);
  if (is_asked || has_other_first || bring_to_front(ViewKind::failure)) views.failures_shown.insert(source->id);
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
  settle_tab_strips();
  ImGui::DockSpace(space, {0, 0}, ImGuiDockNodeFlags_NoWindowMenuButton | ImGuiDockNodeFlags_NoCloseButton);
  if (views.settling == 2) choose_tabs(views.of_trace.value_or(false));
}

}  // namespace hbmscope::gui
