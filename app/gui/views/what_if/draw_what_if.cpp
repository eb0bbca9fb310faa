#include "app/gui/views/what_if/draw_what_if.h"

#include <imgui.h>

#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/text_field.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void draw_field(const AppState& state, WhatIfState& view, CommandQueue& commands) {
  const std::string& words = state.position().what_if;
  if (view.seen != words) view.typed = view.seen = words;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5);
  text_field("##try", "Try: XLA_CLIENT_MEM_FRACTION=.9, device=h200, free=train.py:48, donate=train.py:48", view.typed);
  const bool is_entered = ImGui::IsItemDeactivatedAfterEdit();
  tooltip(
      "A setting, allocator=NAME, version=NAME or device=NAME, or several with spaces between them.\n"
      "free=LINE: blocks of this line of your code are freed before it requests the next ones.\n"
      "donate=LINE: they are donated to the next request of the same size.");
  if (is_entered && view.typed != words) commands.push(command::set_what_if, view.typed);
}

// Its text begins with what the rows are about.
void copy(const AppState& state, const WhatIfAnswer& answer, const std::vector<std::uint32_t>& rows,
          CommandQueue& commands) {
  Table table = answer.table;
  table.note = answer.own;
  for (const std::string& note : answer.notes) table.note += "\n" + sentence_from_note(note);
  table.title = "What if";
  copy_table(state, table, rows, commands);
}

}  // namespace

void draw_what_if(const AppState& state, WhatIfState& view, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  draw_field(state, view, commands);
  ImGui::SameLine();
  draw_copy_menu(ViewKind::what_if, commands);
  if (!draw_answer_state(state, state.answers().what_if, "the replays")) return;
  const auto kept = state.answers().what_if.value;
  const WhatIfAnswer& answer = *kept;
  if (!answer.wrong_words.empty()) wrapped_text(answer.wrong_words);
  if (answer.unknown) {
    wrapped_text(sentence_from_note("nothing can be replayed: " + answer.unknown->what));
    return wrapped_text("To replay it on a device that you know, enter that: device=h100, or device=80GiB.", true);
  }
  wrapped_text(answer.own, true);
  for (const std::string& note : answer.notes) wrapped_text(sentence_from_note(note), true);
  TableRequest request{.id = "settings", .find = state.position().find};
  request.is_selected = [&](std::size_t row) { return answer.rows[row].scenario.is_own; };
  if (!answer.rows.empty()) draw_table(state, Look(state), answer.table, kept, view.rows, request, commands);
  if (take_copy(state, ViewKind::what_if, view.copy_seen)) copy(state, answer, view.rows.rows, commands);
}

std::unique_ptr<DrawnView> make_what_if() {
  return make_view(draw_what_if);
}

}  // namespace hbmscope::gui
