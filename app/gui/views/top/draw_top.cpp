#include "app/gui/views/top/draw_top.h"

#include <algorithm>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/top/draw_top_groups.h"

namespace hbmscope::gui {
namespace {

enum Column { flat, flat_share, cum, cum_share, count, cum_count, name, place, column_count };

const Frame& frame_of(const TopAnswer& answer, std::uint32_t index) {
  return answer.view->frames[static_cast<std::size_t>(answer.rows[index].frame)];
}

int compare_text(std::string_view a, std::string_view b) {
  return a.compare(b);
}

template <class T>
int compare_number(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

int compare(const TopAnswer& answer, std::uint32_t a, std::uint32_t b, int column) {
  const TopRow &first = answer.rows[a], &second = answer.rows[b];
  switch (column) {
    case flat:
    case flat_share: return compare_number(first.flat.bytes, second.flat.bytes);
    case cum:
    case cum_share: return compare_number(first.cum.bytes, second.cum.bytes);
    case count: return compare_number(first.flat.count, second.flat.count);
    case cum_count: return compare_number(first.cum.count, second.cum.count);
    case name: return compare_text(frame_of(answer, a).function, frame_of(answer, b).function);
    default: break;
  }
  const int file = compare_text(frame_of(answer, a).file, frame_of(answer, b).file);
  return file != 0 ? file : compare_number(frame_of(answer, a).line, frame_of(answer, b).line);
}

void sort_rows(const TopAnswer& answer, const std::string& find, TopState& top) {
  top.rows.clear();
  top.rows_flat = {};
  for (std::uint32_t i = 0; i < answer.rows.size(); ++i) {
    if (!found_by(find, frame_of(answer, i))) continue;
    top.rows.push_back(i);
    top.rows_flat += answer.rows[i].flat;
  }
  std::stable_sort(top.rows.begin(), top.rows.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int order = compare(answer, a, b, top.column);
    return top.ascending ? order < 0 : order > 0;
  });
}

// Rows are indices into an answer, so they must belong to the current answer.
void renew_rows(const AppState& state, const std::shared_ptr<const TopAnswer>& answer, TopState& top) {
  const std::string& find = state.position().find;
  if (top.rows_of == answer && top.rows_find == find) return;
  top.rows_of = answer;
  top.rows_find = find;
  sort_rows(*answer, find, top);
}

// Call it inside the table, which has the sort order.
void apply_sorting(const TopAnswer& answer, TopState& top) {
  ImGuiTableSortSpecs* specs = ImGui::TableGetSortSpecs();
  if (specs == nullptr || !specs->SpecsDirty || specs->SpecsCount == 0) return;
  top.column = specs->Specs[0].ColumnIndex;
  top.ascending = specs->Specs[0].SortDirection == ImGuiSortDirection_Ascending;
  specs->SpecsDirty = false;
  sort_rows(answer, top.rows_find, top);
}

void set_up_columns(const Look& look, const ProfileView& view) {
  constexpr ImGuiTableColumnFlags number = ImGuiTableColumnFlags_PreferSortDescending;
  constexpr ImGuiTableColumnFlags name_flags = ImGuiTableColumnFlags_WidthStretch;
  ImGui::TableSetupScrollFreeze(0, 1);
  const char* title = view.request.by == FrameBy::file      ? "File"
                      : view.request.by == FrameBy::package ? "Package"
                                                            : "Function";
  const ColumnSetup columns[column_count] = {{"Flat", 92, 0, number | ImGuiTableColumnFlags_DefaultSort},
                                             {"Flat %", 66, 4, number},
                                             {"Cumulative", 104, 0, number},
                                             {"Cum. %", 66, 3, number},
                                             {"Count", 66, 2, number},
                                             {"Cum. count", 86, 5, number | ImGuiTableColumnFlags_DefaultHide},
                                             {title, 110, 0, name_flags, 3},
                                             {"Where", 76, 1, name_flags, 2}};
  set_up_table_columns(look, columns);
}

// Titles of numeric columns are right-aligned.
void draw_headers() {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int column = 0; column < column_count; ++column) {
    table_header(column, column < name);
    if ((ImGui::TableGetColumnFlags(column) & ImGuiTableColumnFlags_IsEnabled) == 0) continue;
    switch (column) {
      case flat: tooltip("Allocated by the frame itself: the stacks in which it is the innermost frame."); break;
      case cum: tooltip("Allocated by the frame and everything that it calls."); break;
      case count: tooltip("Number of arrays or allocations in the flat bytes."); break;
      default: break;
    }
  }
}

double share_of(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void draw_row(const AppState& state, const Look& look, const TopAnswer& answer, std::uint32_t index,
              CommandQueue& commands) {
  const ProfileView& view = *answer.view;
  const TopRow& row = answer.rows[index];
  const Frame& frame = frame_of(answer, index);
  ImGui::TableNextRow(0, look.px(24));
  ImGui::PushID(static_cast<int>(row.frame));
  ImGui::TableSetColumnIndex(flat);
  const ImVec2 at = ImGui::GetCursorPos();
  const bool selected = state.selected_frame(answer.view) == row.frame;
  if (ImGui::Selectable("##row", selected, ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowOverlap))
    select_frame(state, frame, commands);
  draw_frame_menu(state, frame, commands);
  ImGui::SetCursorPos(at);
  bar_cell(look, share_of(row.flat.bytes, view.total.bytes), amount_text(view, row.flat.bytes), look.bar());
  tooltip(exact_amount_text(view, row.flat.bytes));
  ImGui::TableSetColumnIndex(flat_share);
  right_text(text_from_share(row.flat.bytes, view.total.bytes), true);
  ImGui::TableSetColumnIndex(cum);
  bar_cell(look, share_of(row.cum.bytes, view.total.bytes), amount_text(view, row.cum.bytes), look.bar());
  tooltip(exact_amount_text(view, row.cum.bytes));
  ImGui::TableSetColumnIndex(cum_share);
  right_text(text_from_share(row.cum.bytes, view.total.bytes), true);
  if (ImGui::TableSetColumnIndex(count)) right_text(text_from_count(row.flat.count));
  if (ImGui::TableSetColumnIndex(cum_count)) right_text(text_from_count(row.cum.count));
  ImGui::TableSetColumnIndex(name);
  cell_text(frame.function, frame.is_library);
  ImGui::TableSetColumnIndex(place);
  dim_text(shortened(location_text(frame), ImGui::GetContentRegionAvail().x, true));
  if (!frame.file.empty()) tooltip(frame.file);
  ImGui::PopID();
}

// Scrolls to a selection made in another view.
void follow_selection(const AppState& state, const TopAnswer& answer, TopState& top, float row_height) {
  if (state.position().selection == top.shown) return;
  top.shown = state.position().selection;
  const FrameIndex selected = state.selected_frame(answer.view);
  const auto found = std::find_if(top.rows.begin(), top.rows.end(),
                                  [&](std::uint32_t index) { return answer.rows[index].frame == selected; });
  if (selected == FrameIndex::none || found == top.rows.end()) return;
  const float y = static_cast<float>(found - top.rows.begin()) * row_height;
  const float height = ImGui::GetWindowHeight() - 2 * row_height;
  if (y < ImGui::GetScrollY() || y > ImGui::GetScrollY() + height) ImGui::SetScrollY(std::max(0.0F, y - height / 3));
}

// What the rows are.
void draw_choice(const AppState& state, TopBy shown, CommandQueue& commands) {
  const auto& summary = state.answers().summary.value;
  const auto choice = [&](const char* label, TopBy by, const char* help) {
    if (ImGui::RadioButton(label, shown == by)) commands.push(command::set_top_by, by);
    tooltip(help);
    ImGui::SameLine();
  };
  choice("Your code", TopBy::your_code, "The innermost line outside libraries of each stack.");
  choice("All frames", TopBy::frames, "Functions, lines, files or packages, with libraries: see the list above.");
  if (summary && !summary->categories.empty())
    choice("Category", TopBy::category, "Parameters, gradients, activations, ...");
  ImGui::SameLine(0, ImGui::GetFontSize());
}

void draw_head(const AppState& state, const TopAnswer& answer, const TopState& top, CommandQueue& commands) {
  const ProfileView& view = *answer.view;
  draw_choice(state, TopBy::frames, commands);
  ImGui::AlignTextToFramePadding();
  dim_text(text_from_count(static_cast<std::int64_t>(top.rows.size())) + " of " +
           text_from_count(static_cast<std::int64_t>(answer.rows.size())) + " frames, " +
           amount_text(view, top.rows_flat.bytes) + " flat; % " + base_text(view) + in_scope(state));
  if (state.answers().view.pending()) {
    ImGui::SameLine();
    draw_pending("the new filter", state.answers().view.pending_since);
  }
  draw_copy_menu(ViewKind::top, commands);
}

// Nothing until it is known. What the source does not have is replaced by all frames.
std::optional<TopBy> shown_rows(TopBy wanted, const SummaryAnswer* summary) {
  if (wanted == TopBy::frames) return wanted;
  if (summary == nullptr) return std::nullopt;
  const bool has_code = !summary->user_code.empty() && summary->user_code.front().has_place();
  const bool is_there = wanted == TopBy::your_code ? has_code : !summary->categories.empty();
  return is_there ? wanted : TopBy::frames;
}

}  // namespace

void draw_top(const AppState& state, TopState& top, CommandQueue& commands) {
  const auto& summary = state.answers().summary.value;
  const auto shown = shown_rows(state.position().top_by, summary.get());
  if (shown && *shown != TopBy::frames) {
    draw_choice(state, *shown, commands);
    return draw_top_groups(state, top, *shown, *summary, commands);
  }
  if (!shown || !draw_answer_state(state, state.answers().top, "the top frames")) return;
  const auto answer = state.answers().top.value;
  const Look look(state);
  renew_rows(state, answer, top);
  draw_head(state, *answer, top, commands);
  if (top.rows.empty()) {
    const std::string& find = state.position().find;
    wrapped_text("None of " + text_from_count(static_cast<std::int64_t>(answer->rows.size())) + " frames matches " +
                 (find.empty() ? "the filter." : "\"" + find + "\"."));
    if (ImGui::Button(find.empty() ? "Clear filter" : "Clear search")) {
      if (find.empty()) {
        commands.push(CommandId::clear_filter);
      } else {
        commands.push(command::set_find, "");
      }
    }
  }
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_ScrollY | ImGuiTableFlags_RowBg |
                                    ImGuiTableFlags_Resizable | ImGuiTableFlags_Hideable |
                                    ImGuiTableFlags_BordersInnerV | ImGuiTableFlags_NoBordersInBodyUntilResize;
  if (ImGui::BeginTable("top", column_count, flags)) {
    set_up_columns(look, *answer->view);
    apply_sorting(*answer, top);
    draw_headers();
    const float row_height = look.px(24);
    follow_selection(state, *answer, top, row_height);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(top.rows.size()));
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(state, look, *answer, top.rows[static_cast<std::size_t>(i)], commands);
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::top, top.copy_seen)) copy_table(state, table_from_top(*answer, top.rows), commands);
}

std::unique_ptr<DrawnView> make_top() {
  return make_view(draw_top);
}

}  // namespace hbmscope::gui
