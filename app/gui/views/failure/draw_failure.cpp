#include "app/gui/views/failure/draw_failure.h"

#include <string>

#include <imgui.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "analysis/units/utf8.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/trace_tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/device_bar.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/fragmentation_ruler.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

std::string when_text(std::uint64_t position, const std::optional<std::int64_t>& since_start_ns) {
  const std::string event = "event " + text_from_count(position);
  return since_start_ns ? text_from_moment_ns(*since_start_ns) + " (" + event + ")" : event;
}

void go_to(const FailureAnswer& answer, std::uint64_t position, CommandQueue& commands) {
  commands.push(command::set_moment, {*answer.trace, answer.heap.stream, position});
}

void draw_head(const AppState& state, const FailureAnswer& answer, CommandQueue& commands) {
  const FailureFacts& facts = answer.facts;
  ImGui::AlignTextToFramePadding();
  bold_text("! Out of memory" +
            (answer.of > 1 ? " " + text_from_count(answer.number) + " of " + text_from_count(answer.of) : "") +
            (facts.heap_name.empty() ? "" : " on " + facts.heap_name) + "," +
            (facts.log_line ? "" : " " + when_text(facts.event, facts.since_start_ns)));
  if (facts.log_line) {
    ImGui::SameLine();
    if (link(("line " + text_from_count(*facts.log_line) + " of the log###log line").c_str()))
      commands.push(command::show_log_line, *facts.log_line);
    tooltip("Shows the log around this line.");
  }
  const auto& moment = state.answers().moment;
  if (moment.value && moment.value->trace == answer.trace && moment.value->position(answer.heap) != facts.event) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    if (ImGui::Button("Show that time")) go_to(answer, facts.event, commands);
  }
  if (answer.of > 1) {
    ImGui::SameLine(0, ImGui::GetFontSize());
    if (ImGui::Button("< Failure")) commands.push(CommandId::previous_failure);
    ImGui::SameLine();
    if (ImGui::Button("Failure >")) commands.push(CommandId::next_failure);
  }
  draw_copy_menu(ViewKind::failure, commands);
}

void draw_requested_by(const FailureAnswer& answer, CommandQueue& commands) {
  const Definitions& definitions = answer.trace->streams[answer.heap.stream].definitions();
  const auto own = find_own_frame(definitions, answer.facts.stack);
  if (!own) return;
  ImGui::AlignTextToFramePadding();
  dim_text("requested by");
  ImGui::SameLine();
  if (link((own_line_text(definitions, answer.facts.stack) + "##asked").c_str()))
    commands.select(
        {std::string(definitions.text(own->function)), std::string(definitions.text(own->file)), own->line});
}

void draw_last_fit(const FailureAnswer& answer, CommandQueue& commands) {
  const FailureFacts& facts = answer.facts;
  if (facts.log_line) return;  // A log has no past of the heap.
  if (facts.last_fit) {
    ImGui::AlignTextToFramePadding();
    dim_text("last time the request would have fit:");
    ImGui::SameLine();
    if (link(when_text(*facts.last_fit, facts.last_fit_since_start_ns).c_str()))
      go_to(answer, *facts.last_fit, commands);
  } else if (facts.free_blocks && !facts.has_room()) {
    dim_text("the request would not have fit at any earlier time");
  }
}

// What the source can't say, and how to get it.
void draw_unknowns(const CauseOfFailure& cause, CommandQueue& commands) {
  if (cause.unknowns.empty()) return;
  wrapped_text(cause.unknowns, true);
  if (cause.how_to_know.empty()) return;
  wrapped_text("To know next time: " + cause.how_to_know, true);
  if (ImGui::SmallButton("Copy##how to know")) commands.push(command::set_clipboard, cause.how_to_know);
}

void draw_advice(const FailureAnswer& answer, CommandQueue& commands) {
  if (answer.advice.empty()) return;
  ImGui::Spacing();
  bold_text("What would help");
  for (std::size_t i = 0; i < answer.advice.size(); ++i) {
    const Advice& one = answer.advice[i];
    ImGui::PushID(static_cast<int>(i));
    if (ImGui::SmallButton("Copy")) commands.push(command::set_clipboard, one.change);
    ImGui::SameLine();
    const std::string_view mark = mark_of(one);
    wrapped_text(one.change + (mark.empty() ? "" : "  (" + std::string(mark) + ")"));
    wrapped_text(one.why + (one.price.empty() ? "" : " Price: " + one.price), true);
    if (!one.proof_text.empty()) wrapped_text(one.proof_text);
    ImGui::PopID();
  }
}

void draw_blocker(const AppState& state, const FailureAnswer& answer, const LiveBlock& block, CommandQueue& commands) {
  const Definitions& definitions = answer.trace->streams[answer.heap.stream].definitions();
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool is_selected = state.position().address == block.address;
  if (ImGui::Selectable(address_text(block.address).c_str(), is_selected, ImGuiSelectableFlags_SpanAllColumns)) {
    if (state.answers().moment.value && state.answers().moment.value->position(answer.heap) != answer.facts.event)
      go_to(answer, answer.facts.event, commands);
    PlaceToSelect place{block.address};
    if (const auto own = find_own_frame(definitions, block.stack))
      place.frame = {std::string(definitions.text(own->function)), std::string(definitions.text(own->file)), own->line};
    commands.push(command::select_address, std::move(place));
  }
  ImGui::TableNextColumn();
  right_text(text_from_bytes(block.size));
  ImGui::TableNextColumn();
  text(own_line_text(definitions, block.stack));
}

void draw_place(const AppState& state, const Look& look, const FailureAnswer& answer, CommandQueue& commands) {
  const FailureFacts& facts = answer.facts;
  if (!facts.is_free_known() || facts.has_room()) return;
  if (!facts.free_blocks) return;  // Without regions, no addresses of blocking allocations are known.
  if (!facts.place) {
    dim_text("No region of the pool is as large as the request, so releasing blocks could not have made room for it.");
    return;
  }
  const CheapestPlace& place = *facts.place;
  bold_text("Blocking allocations");
  tooltip("The smallest set of blocks in one region whose release makes room for the request, from " +
          address_text(place.range.begin) + " to " + address_text(place.range.end));
  ImGui::SameLine(0, ImGui::GetFontSize());
  dim_text(text_from_count(place.blocks.size()) + (place.blocks.size() == 1 ? " block, " : " blocks, ") +
           text_from_bytes(place.in_use_bytes));
  if (!ImGui::BeginTable("blockers", 3, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("Address", ImGuiTableColumnFlags_WidthFixed, look.px(130));
  ImGui::TableSetupColumn("Size", ImGuiTableColumnFlags_WidthFixed, look.px(90));
  ImGui::TableSetupColumn("Your code", ImGuiTableColumnFlags_WidthStretch, 1);
  table_headers(1, 2);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(place.blocks.size()));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      draw_blocker(state, answer, place.blocks[static_cast<std::size_t>(i)], commands);
  ImGui::EndTable();
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
  ImGui::PushFont(bold_font(), 0.0F);
  wrapped_text(answer->cause.sentence);
  ImGui::PopFont();
  if (answer->free)
    draw_ruler(look, *answer->free, RulerRequest{answer->facts.requested_bytes, true, true, "the request"});
  if (answer->facts.log_line && !answer->facts.reason.empty())
    wrapped_text("\"" + printable(answer->facts.reason) + "\"", true);
  draw_requested_by(*answer, commands);
  draw_last_fit(*answer, commands);
  for (const Evidence& one : answer->cause.evidence)
    if (!answer->facts.last_fit || one.event != answer->facts.last_fit) wrapped_text(one.text, true);
  draw_unknowns(answer->cause, commands);
  draw_advice(*answer, commands);
  if (answer->budget) draw_device_bar(look, *answer->budget);
  ImGui::Spacing();
  draw_place(state, look, *answer, commands);
  ImGui::EndChild();
  if (take_copy(state, ViewKind::failure, view.copy_seen)) copy_table(state, table_from_failure(*answer), commands);
}

std::unique_ptr<DrawnView> make_failure() {
  return make_view(draw_failure);
}

}  // namespace hbmscope::gui
