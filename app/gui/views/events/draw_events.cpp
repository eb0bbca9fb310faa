#include "app/gui/views/events/draw_events.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/event_table.h"
#include "app/gui/core/span_text.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
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

void draw_row(const AppState& state, const Look& look, const EventsAnswer& answer, std::size_t index,
              std::uint64_t position, CommandQueue& commands) {
  const EventRow& row = answer.rows[index];
  const EventText words = text_from_event(answer, row);
  const bool is_now = row.event + 1 == position, is_later = row.event >= position;
  const bool is_selected = row.address && state.position().address == row.address;
  ImGui::TableNextRow(0, look.px(24));
  ImGui::PushID(static_cast<int>(index));
  ImGui::TableNextColumn();
  const ImVec2 at = ImGui::GetCursorPos();
  if (ImGui::Selectable("##event", is_now, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap))
    go_to(answer, row.event + 1, commands);
  tooltip(words.tooltip);
  ImGui::SetCursorPos(at);
  right_text(text_from_count(row.event), !is_now);
  const auto cell = [&](const std::string& text_in_it, bool right) {
    ImGui::TableNextColumn();
    if (right)
      right_text(text_in_it, is_later);
    else
      cell_text(text_in_it, is_later);
  };
  cell(words.time, true);
  ImGui::TableNextColumn();
  if (words.is_failure) ImGui::PushStyleColor(ImGuiCol_Text, look.vec(Role::failure));
  is_later && !words.is_failure ? dim_text(words.what) : text(words.what);
  if (words.is_failure) ImGui::PopStyleColor();
  cell(words.size, true);
  ImGui::TableNextColumn();
  is_selected ? bold_text(words.address) : dim_text(words.address);
  cell(words.heap, false);
  cell(words.by, false);
  ImGui::PopID();
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
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg | ImGuiTableFlags_Resizable |
                                    ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (ImGui::BeginTable("events", 7, flags)) {
    const Look look(state);
    ImGui::TableSetupScrollFreeze(0, 1);
    constexpr ColumnSetup columns[] = {{"Event", 84},
                                       {"Time", 92, 2},
                                       {"What", 110},
                                       {"Size", 84, 1},
                                       {"Address", 130, 3},
                                       {"Heap", 70, 4},
                                       {"Your code", 100, 0, ImGuiTableColumnFlags_WidthStretch}};
    set_up_table_columns(look, columns);
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int column = 0; column < 7; ++column) table_header(column, column == 0 || column == 1 || column == 3);
    const float row_height = look.px(24);
    if (events.followed != answer || events.followed_position != position) {
      const bool is_far = events.followed == nullptr || events.followed->stream != answer->stream ||
                          events.followed_position + 1 < position || position + 1 < events.followed_position;
      events.followed = answer;
      events.followed_position = position;
      const auto now = std::partition_point(answer->rows.begin(), answer->rows.end(),
                                            [&](const EventRow& row) { return row.event < position; });
      const float y = static_cast<float>(now - answer->rows.begin()) * row_height;
      const float height = ImGui::GetWindowHeight() - 2 * row_height;
      if (is_far || y < ImGui::GetScrollY() + row_height || y > ImGui::GetScrollY() + height)
        ImGui::SetScrollY(std::max(0.0F, y - height / 2));
    }
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(answer->rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(state, look, *answer, static_cast<std::size_t>(i), position, commands);
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::events, events.copy_seen)) copy_table(state, table_from_events(*answer), commands);
}

std::unique_ptr<DrawnView> make_events() {
  return make_view(draw_events);
}

}  // namespace hbmscope::gui
