#include "app/gui/views/trace_head.h"

#include <string>
#include <vector>

#include <imgui.h>

#include "app/gui/views/answer_state.h"
#include "app/gui/views/drawing.h"

namespace hbmscope::gui {

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
      if (ImGui::Selectable(heap.name.c_str(), heap.key == shown))
        commands.push(CommandId::choose_heap, text_from_heap_key(heap.key));
    ImGui::EndCombo();
  }
  const Look look(state);
  tooltip("The heap that the heap map and the timeline show");
  return true;
}

void draw_no_heap(const AppState& state, AnswerState answer) {
  if (answer != AnswerState::absent || state.answers().moment.state != AnswerState::ready) return;
  const bool is_live = state.source() != nullptr && state.source()->live;
  wrapped_text(is_live ? "No heap of this job has held anything yet: what it allocates from now on appears here."
                       : "No heap of this trace ever held anything, so there is nothing to draw.");
}

void draw_moment_error(const AppState& state, CommandQueue& commands) {
  draw_error(state, state.answers().moment.error);
  if (ImGui::Button("Go to the end")) commands.push(CommandId::go_to_end);
}

}  // namespace hbmscope::gui
