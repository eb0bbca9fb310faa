#include "app/gui/look/side_by_side.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/icons.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {
namespace {

struct LockChoice {
  std::optional<SameMoment> lock;
  const char* title;
  std::string_view words;
};
constexpr LockChoice lock_choices[] = {
    {std::nullopt, "not locked", "Each side has its own time."},
    {SameMoment::time, "by time", "Both sides show the same time since their first event."},
    {SameMoment::requests, "by requests",
     "Both sides show the same number of requests: the same point of one program."}};

void draw_letter(const Look& look, const AppState& state) {
  const std::size_t side = state.context_index();
  const bool is_active = side == state.active_context;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::AlignTextToFramePadding();
  is_active ? bold_text(side_name(side)) : dim_text(side_name(side));
  tooltip(is_active ? "Sources, Inspector and the tabs below show this side (F7: the other one)."
                    : "Click here or press F7 to show this side in the tabs below.");
  const ImVec2 end = ImGui::GetItemRectMax();
  if (is_active)
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, end.y}, {end.x, end.y + look.px(2)}, look.role(Role::text));
  ImGui::SameLine(0, look.px(8));
}

// "A  oom.pickle, at the peak (event 812)"; on the right, the lock and the button back to one side.
void draw_side_head(const Look& look, const AppState& state, CommandQueue& commands) {
  draw_letter(look, state);
  const Source* source = state.source();
  const auto& moment = state.answers().moment.value;
  std::string name = source == nullptr ? "nothing is open" : source->name();
  if (source != nullptr && source->trace && moment)
    name += ", " + phrase_of(*moment, choose_heap(*moment->trace, state.position().heap));
  const bool has_lock =
      state.context_index() + 1 == state.contexts.size() && view_exists(state, ViewKind::side_by_side);
  const float close = ImGui::GetFrameHeight();
  const float lock = has_lock ? ImGui::CalcTextSize("by requests").x + 2 * ImGui::GetFrameHeight() : 0;
  const float space = ImGui::GetContentRegionAvail().x - close - lock - 2 * ImGui::GetStyle().ItemSpacing.x;
  const float right = ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x;
  ImGui::AlignTextToFramePadding();
  text(shortened(name, space));
  if (source != nullptr) tooltip(name + "\n" + source->path);
  ImGui::SameLine(right - close - lock - (has_lock ? ImGui::GetStyle().ItemSpacing.x : 0));
  if (has_lock) {
    draw_lock(state, commands);
    ImGui::SameLine(right - close);
  }
  if (ImGui::Button((std::string(icon::close) + "###x").c_str(), {close, 0})) commands.push(CommandId::close_this_side);
  tooltip("Closes this side (Ctrl+B keeps only the active one).");
}

}  // namespace

void draw_lock(const AppState& state, CommandQueue& commands) {
  const LockChoice& now = *std::find_if(std::begin(lock_choices), std::end(lock_choices),
                                        [&](const LockChoice& one) { return one.lock == state.lock; });
  ImGui::SetNextItemWidth(ImGui::CalcTextSize("by requests").x + 2 * ImGui::GetFrameHeight());
  if (ImGui::BeginCombo("##lock", now.title)) {
    for (const LockChoice& one : lock_choices) {
      if (ImGui::Selectable(one.title, &one == &now)) commands.push(command::set_lock, one.lock);
      tooltip(one.words);
    }
    ImGui::EndCombo();
  }
  tooltip("How the times of both sides are locked. " + std::string(now.words));
}

void draw_sides(const AppState& state, const ViewRow& row, SideFocus& focus, CommandQueue& commands,
                const std::function<void()>& draw) {
  const Look look(state);
  const float gap = ImGui::GetStyle().ItemSpacing.x;
  const float width = (ImGui::GetContentRegionAvail().x - gap) / 2;
  for (std::size_t side = 0; side < state.contexts.size(); ++side) {
    if (side > 0) ImGui::SameLine(0, gap);
    const ContextScope scope(state, side);
    commands.bind(side);
    if (ImGui::BeginChild(side == 0 ? "A" : "B", {width, 0}, 0,
                          ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoScrollbar)) {
      if (ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows)) {
        const ImGuiID child = ImGui::GetID("side");
        if (focus.child != child && side != state.active_context) commands.push(CommandId::activate_side);
        focus.child = child;
      }
      row.has_one_line_head ? draw_side_head(look, state, commands) : draw_letter(look, state);
      const Source* source = state.source();
      if (row.needs_addresses && source != nullptr && source->state == AnswerState::ready && !source->trace)
        wrapped_text(source->name() + " has no addresses and times, so only the other side has this view.");
      else
        draw();
    }
    ImGui::EndChild();
    commands.unbind();
  }
}

}  // namespace hbmscope::gui
