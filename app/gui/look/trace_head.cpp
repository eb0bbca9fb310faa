#include "app/gui/look/trace_head.h"

#include <algorithm>
#include <string>
#include <vector>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

// If there are several processes: the one whose heap is shown.
const AttachedFacts& facts_of_shown(const AppState& state, const Source& source) {
  const HeapKey shown = choose_heap(*source.trace, state.position().heap);
  const auto found = std::find_if(source.attached.begin(), source.attached.end(),
                                  [&](const AttachedFacts& one) { return one.stream == shown.stream; });
  return found == source.attached.end() ? source.attached.front() : *found;
}

std::string why_no_heap(const Source& source) {
  const bool is_live = source.live.has_value();
  const bool are_recorded = std::any_of(source.attached.begin(), source.attached.end(), [](const AttachedFacts& one) {
    return one.are_calls_recorded || one.driver_calls.empty();
  });
  if (source.attached.empty() || are_recorded)
    return is_live ? "The job has allocated nothing yet. What it allocates from now on appears here."
                   : "Nothing was ever allocated in this trace.";
  const AttachedFacts& facts = source.attached.front();
  if (facts.may_be_recorded_later)
    return is_live
               ? "The job has allocated nothing yet: it has not loaded a CUDA driver. What it allocates then appears "
                 "here."
               : "There is no heap: the job loaded no CUDA driver, and no annotated allocator reported one.";
  return "There is no heap: " + facts.driver_calls +
         ". The timeline shows the totals that the driver reports (NVML), if it does." +
         (is_live && !facts.is_left_alone ? " Only heaps of annotated allocators appear here." : "");
}

}  // namespace

bool draw_heap_chooser(const AppState& state, const Trace& trace, HeapKey shown, CommandQueue& commands) {
  const std::vector<NamedHeap> heaps = heaps_of(trace);
  if (heaps.size() < 2) {
    if (heaps.empty()) return false;
    ImGui::AlignTextToFramePadding();
    bold_text(heaps.front().name);
    return true;
  }
  std::string name;
  float width = 0;
  for (const NamedHeap& heap : heaps) {
    if (heap.key == shown) name = heap.name;
    width = std::max(width, ImGui::CalcTextSize(heap.name.c_str()).x);
  }
  ImGui::SetNextItemWidth(width + 2 * ImGui::GetFrameHeight());
  if (ImGui::BeginCombo("##heap", name.c_str())) {
    for (const NamedHeap& heap : heaps)
      if (ImGui::Selectable(heap.name.c_str(), heap.key == shown)) commands.push(command::choose_heap, heap.key);
    ImGui::EndCombo();
  }
  const Look look(state);
  tooltip("The heap shown in the heap map and the timeline");
  return true;
}

void draw_attached_line(const AppState& state) {
  const Source* source = state.source();
  if (source == nullptr || source->attached.empty()) return;
  const AttachedFacts& facts = facts_of_shown(state, *source);
  std::string words = text_from_attached(facts) + " " + text_from_driver_calls(facts);
  if (const std::size_t others = source->attached.size() - 1; others > 0)
    words += " " + text_from_count(others) + (others == 1 ? " more process is" : " more processes are") +
             " attached: choose one of its heaps, or see the report.";
  const float pad = ImGui::GetStyle().WindowPadding.x;
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + pad);
  ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + ImGui::GetContentRegionAvail().x - pad);
  text(words);
  ImGui::PopTextWrapPos();
}

void draw_no_heap(const AppState& state, AnswerState answer) {
  if (answer != AnswerState::absent || state.answers().moment.state != AnswerState::ready) return;
  const Source* source = state.source();
  if (source != nullptr) wrapped_text(why_no_heap(*source));
}

void draw_moment_error(const AppState& state, CommandQueue& commands) {
  draw_error(state, state.answers().moment.error);
  if (ImGui::Button("Go to the end")) commands.push(CommandId::go_to_end);
}

}  // namespace hbmscope::gui
