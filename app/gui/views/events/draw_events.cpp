#include "app/gui/views/events/draw_events.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/event_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_table.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void go_to(const EventsAnswer& answer, std::uint64_t position, CommandQueue& commands) {
  commands.push(command::set_moment, {*answer.trace, answer.stream, position});
}

void draw_head(const AppState& state, const EventsAnswer& answer, std::uint64_t position, CommandQueue& commands) {
  const std::uint64_t end = answer.of().end_position();
  const std::uint64_t step = event_window / 2;
  ImGui::BeginDisabled(position == 0);
  if (ImGui::Button("Earlier")) go_to(answer, position - std::min(position, step), commands);
  ImGui::EndDisabled();
  tooltip(text_from_count(step) + " events earlier");
  ImGui::SameLine();
  ImGui::BeginDisabled(position >= end);
  if (ImGui::Button("Later")) go_to(answer, std::min(end, position + step), commands);
  ImGui::EndDisabled();
  tooltip(text_from_count(step) + " events later");
  ImGui::SameLine();
  ImGui::AlignTextToFramePadding();
  const std::uint64_t last = answer.rows.empty() ? 0 : answer.rows.back().event;
  dim_text("events " + text_from_count(answer.rows.empty() ? 0 : answer.rows.front().event) + " to " +
           text_from_count(last) + " of " + text_from_count(end) + "; current: " + text_from_count(position));
  const Answer<EventsAnswer>& pending = state.answers().events;
  if (pending.pending()) {
    ImGui::SameLine();
    draw_pending("the events", pending.pending_since, pending.work.get());
  }
  draw_copy_menu(ViewKind::events, commands);
}

}  // namespace

void draw_events(const AppState& state, EventsState& events, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  const std::shared_ptr<const EventsAnswer> answer = state.answers().events.value;
  const auto& moment = state.answers().moment.value;
  if (state.answers().events.failed()) draw_error(state, state.answers().events.error);
  if (!answer || !moment || moment->trace != answer->trace) return;
  const std::uint64_t position = moment->moment.positions[answer->stream];
  draw_head(state, *answer, position, commands);
  if (events.of != answer) events.table = describe_events(*answer);
  events.of = answer;
  Table shown = events.table;  // What is later than now is dim.
  shown.cell_tone = [&](std::size_t row, std::size_t column) {
    const EventRow& event = answer->rows[row];
    if (column == 2 && event.kind == wire::RecordKind::out_of_memory) return Tone::bad;
    if (column == 4 && event.address && state.position().address == event.address) return Tone::strong;
    return event.event >= position ? Tone::dim : Tone::plain;
  };
  const auto now = std::partition_point(answer->rows.begin(), answer->rows.end(),
                                        [&](const EventRow& row) { return row.event < position; });
  TableRequest request{.id = "events", .place = {answer->trace, {answer->stream, 0}, position}};
  request.is_selected = [&](std::size_t row) { return answer->rows[row].event + 1 == position; };
  if (now != answer->rows.begin()) request.follow = static_cast<std::size_t>(now - answer->rows.begin() - 1);
  draw_table(state, Look(state), shown, answer, events.rows, request, commands);
  if (take_copy(state, ViewKind::events, events.copy_seen)) copy_table(state, events.table, events.rows.rows, commands);
}

std::unique_ptr<DrawnView> make_events() {
  return make_view(draw_events);
}

}  // namespace hbmscope::gui
