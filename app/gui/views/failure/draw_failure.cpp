#include "app/gui/views/failure/draw_failure.h"

#include <imgui.h>

#include "analysis/answers/failure.h"
#include "analysis/document/text.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/fragmentation_ruler.h"
#include "app/gui/look/icons.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void draw_head(const AppState& state, const FailureAnswer& answer, CommandQueue& commands) {
  ImGui::AlignTextToFramePadding();
  bold_text(std::string(icon::warning) + "  " + answer.document->title);
  const auto& moment = state.answers().moment;
  if (answer.log_line) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    if (link("Show it in the log###log line")) commands.push(command::show_log_line, *answer.log_line);
  }
  if (!answer.log_line && moment.value && moment.value->trace == answer.trace &&
      moment.value->position(answer.heap) != answer.event) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    if (ImGui::Button("Show that time"))
      commands.push(command::set_moment, {*answer.trace, answer.heap.stream, answer.event});
  }
  if (answer.of > 1) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    if (ImGui::Button((std::string(icon::left) + "  Failure###previous").c_str()))
      commands.push(CommandId::previous_failure);
    ImGui::SameLine();
    if (ImGui::Button(("Failure  " + std::string(icon::right) + "###next").c_str()))
      commands.push(CommandId::next_failure);
  }
  draw_copy_menu(ViewKind::failure, commands);
}

// The whole answer as text; for a spreadsheet its last table, the blocking allocations.
void copy(const AppState& state, const Document& document, CommandQueue& commands) {
  if (state.window.figures_file.empty() && state.window.copy_as_text)
    return commands.push(command::set_clipboard, text_from_document(document, {.shows_all = true}));
  for (const Part& part : document.parts)
    if (const auto* table = std::get_if<Table>(&part.is); table != nullptr && table->key == "blockers")
      return copy_table(state, *table, commands);
}

}  // namespace

void draw_failure(const AppState& state, FailureViewState& view, CommandQueue& commands) {
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  if (!draw_answer_state(state, state.answers().failure, "why it failed")) {
    const bool is_known = state.answers().moment.state == AnswerState::ready;
    if (is_known && state.answers().failure.state == AnswerState::absent) {
      wrapped_text("No request failed on this heap; one did on another one:");
      for (const NamedHeap& heap : heaps_with_failure(*state.answers().moment.value->trace))
        if (link(heap.name.c_str())) commands.push(command::choose_heap, heap.key);
    }
    return;
  }
  const auto answer = state.answers().failure.value;
  const Look look(state);
  draw_head(state, *answer, commands);
  ImGui::BeginChild("body");
  DocumentRequest request{.place = {answer->trace, answer->heap, answer->event}};
  request.draw_picture = [&](std::string_view) {
    if (answer->free) draw_ruler(look, *answer->free, RulerRequest{answer->requested_bytes, true, true, "the request"});
  };
  if (view.remedies_seen != state.window.remedies_serial) request.scroll_to = title_of_remedies;
  draw_document(state, look, answer->document, view.document, request, commands);
  // The first frame of a view that was just opened has no height to scroll in.
  if (!ImGui::IsWindowAppearing()) view.remedies_seen = state.window.remedies_serial;
  ImGui::EndChild();
  if (take_copy(state, ViewKind::failure, view.copy_seen)) copy(state, *answer->document, commands);
}

std::unique_ptr<DrawnView> make_failure() {
  return make_view(draw_failure);
}

}  // namespace hbmscope::gui
