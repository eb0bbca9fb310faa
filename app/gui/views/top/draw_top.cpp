#include "app/gui/views/top/draw_top.h"

#include <imgui.h>

#include "analysis/answers/top.h"
#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

// What the rows are.
void draw_choice(const AppState& state, TopBy shown, CommandQueue& commands) {
  const auto& names = state.answers().names.value;
  const auto choice = [&](const char* label, TopBy by, const char* help) {
    if (radio_button(label, shown == by)) commands.push(command::set_top_by, by);
    tooltip(help);
    ImGui::SameLine();
  };
  choice("Your code", TopBy::your_code, "The innermost line outside libraries of each stack.");
  choice("All frames", TopBy::frames, "Functions, lines, files or packages, with libraries: see the list above.");
  if (names && names->has_categories) choice("Category", TopBy::category, "Parameters, gradients, activations, ...");
  if (names && names->has_names)
    choice("Name", TopBy::name, "What holds the memory: variables and parameters of the program.");
  ImGui::SameLine(0, ImGui::GetFontSize());
}

// Nothing until it is known. What the source does not have is replaced by all frames; what the filter leaves out is
// not: the person chose these rows.
std::optional<TopBy> shown_rows(const AppState& state, TopState& top, const SummaryAnswer* summary) {
  const TopBy wanted = state.position().top_by;
  if (wanted == TopBy::frames) return wanted;
  if (summary == nullptr) return std::nullopt;
  const auto& names = state.answers().names.value;
  if (wanted == TopBy::category) return names && names->has_categories ? wanted : TopBy::frames;
  if (wanted == TopBy::name) return names && names->has_names ? wanted : TopBy::frames;
  const bool has_code = !summary->user_code.empty() && summary->user_code.front().has_place();
  const bool is_filtered = !state.position().request.where.empty();
  if (!is_filtered) top.has_code = has_code;
  const bool is_left_out = is_filtered && top.has_code.value_or(summary->user_code.empty());
  return has_code || is_left_out ? wanted : TopBy::frames;
}

// Until the rows of the new filter are known, none are shown: those of the previous one would be taken for them.
bool has_rows_of_filter(const AppState& state, TopState& top) {
  const Answer<ProfileView>& view = state.answers().view;
  const Answer<SummaryAnswer>& summary = state.answers().summary;
  const std::string& where = state.position().request.where;
  const bool is_ready = view.state == AnswerState::ready && summary.state == AnswerState::ready &&
                        summary.key.request == view.value->request;
  if (is_ready || view.failed() || summary.failed()) top.filter = where;
  return top.filter == where;
}

// The line above the rows: how many there are, and what they hold of everything: "1 line, 344 MiB of 1.75 GiB (19.2
// %)".
void draw_head(const AppState& state, const ProfileView& view, const std::string& rows, std::int64_t held,
               CommandQueue& commands) {
  std::string words = rows + ", " + amount_text(view, held);
  if (held != view.total.bytes)
    words += " of " + amount_text(view, view.total.bytes) + " (" + text_from_share(held, view.total.bytes) + ")";
  ImGui::AlignTextToFramePadding();
  dim_text(words + in_scope(state));
  if (state.answers().view.pending()) {
    ImGui::SameLine();
    draw_pending("the new filter", state.answers().view.pending_since);
  }
  draw_copy_menu(ViewKind::top, commands);
}

void draw_nothing_found(const AppState& state, std::size_t rows, CommandQueue& commands) {
  const std::string& find = state.position().find;
  if (find.empty()) return draw_no_match(state, commands);
  wrapped_text("None of " + text_from_count_of(rows, "row") + " matches \"" + find + "\".");
  if (ImGui::Button("Clear search")) commands.push(command::set_find, "");
}

void draw_frames(const AppState& state, const TopAnswer& answer, const std::shared_ptr<const TopAnswer>& of,
                 TopState& top, CommandQueue& commands) {
  if (renew_rows(answer.table, of, state.position().find, top.frames)) {
    top.frames_flat = 0;
    for (const std::uint32_t row : top.frames.rows) top.frames_flat += (*answer.rows)[row].flat.bytes;
  }
  draw_head(state, *answer.view,
            text_from_count(top.frames.rows.size()) + " of " + text_from_count(answer.rows->size()) + " frames, flat",
            top.frames_flat, commands);
  if (top.frames.rows.empty()) draw_nothing_found(state, answer.rows->size(), commands);
  const FrameIndex selected = state.selected_frame(answer.view);
  TableRequest request{.id = "top", .find = state.position().find};
  request.is_selected = [&](std::size_t row) { return (*answer.rows)[row].frame == selected; };
  draw_table(state, Look(state), answer.table, of, top.frames, request, commands);
  if (take_copy(state, ViewKind::top, top.copy_seen)) copy_table(state, answer.table, top.frames.rows, commands);
}

void renew_groups(TopState& top, const std::shared_ptr<const SummaryAnswer>& summary,
                  const std::shared_ptr<const ProfileView>& view, TopBy by) {
  if (top.groups_of == summary && top.groups_in == view && top.groups_by == by) return;
  top.groups_of = summary;
  top.groups_in = view;
  top.groups_by = by;
  top.groups = {};
  const std::shared_ptr<const std::vector<UserCodeRow>> lines(summary, &summary->user_code);
  top.group_table = by == TopBy::category ? describe_categories(summary->categories, whole_of(*view))
                    : by == TopBy::name   ? describe_arrays(summary->names)
                                          : describe_user_code(*view, lines, whole_of(*view));
}

std::string count_text(TopBy by, std::size_t rows) {
  if (by == TopBy::category) return text_from_count_of(rows, "category", "categories");
  return text_from_count_of(rows, by == TopBy::name ? "name" : "line");
}

// The colour that the row has in the pictures. None if these are coloured by something else, where the same hue would
// mean another thing.
void draw_swatch(const AppState& state, const Look& look, const SummaryAnswer& summary, TopBy by, std::size_t row) {
  const TraceColors* colors = state.context().colors.get();
  if (colors == nullptr) return;
  Shade shade = several_shade;
  const HeapColoring coloring = by == TopBy::your_code ? HeapColoring::user_code : HeapColoring::category;
  if (shown_coloring(state) != coloring) return;
  if (by != TopBy::your_code) {
    shade = shade_of_category(by == TopBy::name ? summary.names[row].category : summary.categories[row].category);
  } else if (const UserCodeRow& line = summary.user_code[row]; line.has_place()) {
    const std::string name = line.has_no_user_code()
                                 ? std::string(line.label())
                                 : own_line_name(line.frame.function, line.frame.file, line.frame.line);
    shade = colors->hues_of(coloring).shade_of(name);
  }
  const float side = look.px(10);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float y = at.y + (ImGui::GetTextLineHeight() - side) / 2;
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, y}, {at.x + side, y + side},
                                            look.color(color_of_shade(look.theme, coloring, shade)), look.px(2));
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + side + look.px(6));
}

void draw_groups(const AppState& state, TopState& top, TopBy by, const std::shared_ptr<const SummaryAnswer>& summary,
                 CommandQueue& commands) {
  const auto& view = state.answers().view.value;
  if (view == nullptr) return;
  renew_groups(top, summary, view, by);
  const std::string& find = state.position().find;
  renew_rows(top.group_table, summary, find, top.groups);
  const std::size_t all = top.group_table.rows.size(), found = top.groups.rows.size();
  std::int64_t held = view->selected.bytes;
  if (by == TopBy::name) {
    held = 0;
    for (const HolderRow& row : summary->names) held += static_cast<std::int64_t>(row.bytes);
  }
  draw_head(state, *view, (found == all ? "" : text_from_count(found) + " of ") + count_text(by, all), held, commands);
  if (found == 0) return draw_nothing_found(state, all, commands);
  const Look look(state);
  constexpr const char* ids[] = {"your code", "frames", "categories", "names"};
  TableRequest request{.id = ids[static_cast<std::size_t>(by)], .find = find};
  request.draw_mark = [&](std::size_t row) { draw_swatch(state, look, *summary, by, row); };
  draw_table(state, look, top.group_table, summary, top.groups, request, commands);
  if (take_copy(state, ViewKind::top, top.copy_seen)) copy_table(state, top.group_table, top.groups.rows, commands);
}

}  // namespace

void draw_top(const AppState& state, TopState& top, CommandQueue& commands) {
  const auto summary = state.answers().summary.value;
  const auto shown = shown_rows(state, top, summary.get());
  if (shown && !has_rows_of_filter(state, top)) {
    draw_choice(state, *shown, commands);
    return dim_text("Applying the filter ...");
  }
  if (shown && *shown != TopBy::frames) {
    draw_choice(state, *shown, commands);
    return draw_groups(state, top, *shown, summary, commands);
  }
  if (!shown || !draw_answer_state(state, state.answers().top, "the top frames")) return;
  const auto answer = state.answers().top.value;
  draw_choice(state, TopBy::frames, commands);
  draw_frames(state, *answer, answer, top, commands);
}

std::unique_ptr<DrawnView> make_top() {
  return make_view(draw_top);
}

}  // namespace hbmscope::gui
