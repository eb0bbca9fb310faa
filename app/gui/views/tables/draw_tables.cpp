#include "app/gui/views/tables/draw_tables.h"

#include <string>

#include <imgui.h>

#include "analysis/document/text.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/tables/table_answer.h"

namespace hbmscope::gui {
namespace {

void draw_choice(const AppState& state, const AnswerRow* shown, CommandQueue& commands) {
  const Look look(state);
  ImGui::SetNextItemWidth(look.px(200));
  if (!ImGui::BeginCombo("##table", shown != nullptr ? shown->title.data() : "Choose a table")) return;
  for (const AnswerRow* row : tables_of_trace()) {
    if (ImGui::Selectable(row->title.data(), row == shown)) commands.push(command::set_table, std::string(row->name));
    tooltip(row->help);
  }
  ImGui::EndCombo();
}

// The largest table of a document: what a spreadsheet gets.
const Table* find_largest(const Document& document) {
  const Table* largest = nullptr;
  const auto take = [&](const Table* table) {
    const bool is_shown = table != nullptr && table->audience != Audience::programs;
    if (is_shown && (largest == nullptr || table->rows.size() > largest->rows.size())) largest = table;
  };
  for (const Part& part : document.parts) {
    if (const auto* table = std::get_if<Table>(&part.is)) take(table);
    if (const auto* inner = std::get_if<Document>(&part.is); inner != nullptr && inner->audience != Audience::programs)
      take(find_largest(*inner));
    if (const auto* list = std::get_if<Documents>(&part.is); list != nullptr && list->audience != Audience::programs)
      for (const Document& one : list->list) take(find_largest(one));
  }
  return largest;
}

void copy(const AppState& state, const Document& document, CommandQueue& commands) {
  if (state.window.figures_file.empty() && state.window.copy_as_text)
    return commands.push(command::set_clipboard, text_from_document(document, {.shows_all = true}));
  if (const Table* table = find_largest(document)) copy_table(state, *table, commands);
}

}  // namespace

void draw_tables(const AppState& state, TablesState& view, CommandQueue& commands) {
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  const auto& asked = state.answers().table;
  draw_choice(state, asked.value ? asked.value->row : nullptr, commands);
  if (!draw_answer_state(state, asked, "the table")) return;
  const auto answer = asked.value;
  ImGui::SameLine();
  dim_text(answer->row->help);
  draw_copy_menu(ViewKind::tables, commands);
  ImGui::BeginChild("body");
  if (answer->says_something) {
    const Look look(state);
    DocumentRequest request;
    request.place.trace = answer->moment->trace;
    draw_document(state, look, answer->document, view.document, request, commands);
  } else {
    wrapped_text("This file says nothing of it.", true);
  }
  ImGui::EndChild();
  if (take_copy(state, ViewKind::tables, view.copy_seen)) copy(state, *answer->document, commands);
}

std::unique_ptr<DrawnView> make_tables() {
  return make_view(draw_tables);
}

}  // namespace hbmscope::gui
