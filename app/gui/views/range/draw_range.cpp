#include "app/gui/views/range/draw_range.h"

#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/trace_tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

// A text with its figure; both wrap to the next line together.
void draw_sum(const char* what, const std::string& figure, const std::string& behind, const char* words,
              bool is_first = false) {
  const auto width = [](const std::string& one) {
    return one.empty() ? 0 : ImGui::CalcTextSize(one.c_str()).x + ImGui::GetStyle().ItemSpacing.x;
  };
  // Slightly more, because the figure is bold.
  if (!is_first) flow((width(what) + width(figure) + width(behind)) * 1.05F, ImGui::GetFontSize() * 1.5F);
  ImGui::BeginGroup();
  dim_text(what);
  ImGui::SameLine();
  bold_text(figure);
  if (!behind.empty()) {
    ImGui::SameLine();
    text(behind);
  }
  ImGui::EndGroup();
  tooltip(words);
}
void draw_sum(const char* what, const BlockSum& sum, const char* words, bool is_first = false) {
  draw_sum(what, text_from_bytes(sum.bytes), "in " + text_from_count(sum.count), words, is_first);
}

// Goes to the end of the range and filters by the blocks that were allocated in it. Those that are live there are the
// survivors.
void show_survivors(const RangeAnswer& answer, CommandQueue& commands) {
  commands.push(command::set_moment, answer.range.to);
  commands.push(command::set_filter, "event>=" + std::to_string(answer.from.positions[0]) + " event<" +
                                         std::to_string(answer.to.positions[0]));
  commands.push(CommandId::show_blocks);
}

void draw_survivors_button(const RangeAnswer& answer, CommandQueue& commands) {
  const RangeSummary& summary = answer.summary;
  if (summary.total.survived.count == 0) return;
  const char* const label = "Show survivors";
  flow(button_width(label), ImGui::GetFontSize());
  const bool is_one_stream = answer.trace->streams.size() == 1;
  ImGui::BeginDisabled(!is_one_stream);
  if (ImGui::SmallButton(label)) show_survivors(answer, commands);
  ImGui::EndDisabled();
  tooltip(is_one_stream
              ? "Goes to the end of the range and keeps only blocks allocated in it, in the heap map and in Blocks"
              : "Each stream of this trace counts its own events, so a filter can't select them.");
}

void draw_totals(const RangeAnswer& answer, CommandQueue& commands) {
  const RangeSummary& summary = answer.summary;
  draw_sum("allocated", summary.total.allocated, "Blocks that were allocated in the range, rounding included", true);
  draw_sum("freed", summary.total.freed,
           "Blocks whose release was completed in the range, whenever they were allocated");
  draw_sum("of them older", summary.freed_older, "Released in the range, allocated before it");
  draw_sum("survived", summary.total.survived, "Allocated in the range and alive at its end: leak suspects");
  draw_survivors_button(answer, commands);
  const std::int64_t other = summary.other_delta_bytes;
  draw_sum("in use", delta_text_from_bytes(summary.in_use_delta_bytes),
           other == 0 ? std::string() : "(" + delta_text_from_bytes(other) + " without an event)",
           other == 0
               ? ""
               : "Changes without an event of a block: heaps that were removed, blocks that a new listing no longer "
                 "contains, handles of physical memory");
}

bool has_changed(const HeapRow& before, const HeapRow& after) {
  return before.in_use_bytes != after.in_use_bytes || before.pool_bytes != after.pool_bytes ||
         before.free_bytes != after.free_bytes || before.largest_free_bytes != after.largest_free_bytes;
}

// Heaps that differ between the start and the end of the range.
void draw_heaps(const Look& look, const RangeSummary& summary) {
  if (!ImGui::BeginTable("heaps", 5, ImGuiTableFlags_RowBg)) return;
  constexpr ImGuiTableColumnFlags pair_of = ImGuiTableColumnFlags_WidthStretch;
  constexpr ColumnSetup columns[] = {{"Heap", 90},
                                     {"In use, before > after", 150, 0, pair_of},
                                     {"Pool size", 140, 3, pair_of},
                                     {"Largest free", 140, 1, pair_of},
                                     {"Fragmentation", 120, 2, pair_of}};
  set_up_table_columns(look, columns);
  table_headers(1, 5);
  for (std::size_t i = 0; i < summary.heaps_after.size(); ++i) {
    const HeapRow &before = summary.heaps_before[i], &after = summary.heaps_after[i];
    if (!has_changed(before, after)) continue;
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(after.name);
    const auto pair = [](const std::string& a, const std::string& b) {
      ImGui::TableNextColumn();
      right_text(a + " > " + b);
    };
    pair(text_from_known_bytes(before.in_use_bytes), text_from_known_bytes(after.in_use_bytes));
    pair(text_from_known_bytes(before.pool_bytes), text_from_known_bytes(after.pool_bytes));
    pair(text_from_known_bytes(before.largest_free_bytes), text_from_known_bytes(after.largest_free_bytes));
    pair(text_from_known_share(before.external_fragmentation), text_from_known_share(after.external_fragmentation));
  }
  ImGui::EndTable();
}

void draw_sums(const Look& look, const RangeSums& sums, const RangeSums& total) {
  ImGui::TableNextColumn();
  const double most = static_cast<double>(std::max<std::uint64_t>(1, total.survived.bytes));
  bar_cell(look, static_cast<double>(sums.survived.bytes) / most, text_from_bytes(sums.survived.bytes), look.bar());
  ImGui::TableNextColumn();
  right_text(text_from_count(sums.survived.count));
  ImGui::TableNextColumn();
  right_text(delta_text_from_bytes(sums.net_bytes()));
  ImGui::TableNextColumn();
  right_text(text_from_bytes(sums.allocated.bytes));
  ImGui::TableNextColumn();
  right_text(text_from_bytes(sums.freed.bytes));
}

// The row's name, clickable over the whole row; it selects its line of code in all views.
void draw_name(const AppState& state, const std::string& words, const FrameKey& frame, int id, CommandQueue& commands) {
  ImGui::TableNextColumn();
  ImGui::PushID(id);
  const bool is_selected = !frame.empty() && state.position().selection == frame;
  if (ImGui::Selectable(words.c_str(), is_selected, ImGuiSelectableFlags_SpanAllColumns))
    commands.select(is_selected ? FrameKey{} : frame);
  ImGui::PopID();
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

void draw_row(const AppState& state, const Look& look, const RangeViewState& view, const RangeAnswer& answer,
              std::size_t i, CommandQueue& commands) {
  ImGui::TableNextRow();
  if (!view.by_stack) {
    const RangeOwnRow& row = answer.summary.user_code[i];
    draw_sums(look, row.sums, answer.summary.total);
    const bool is_own = !row.function.empty();
    const std::string name = is_own ? fmt::format("{}  {}:{}", row.function, file_name(row.file), row.line)
                                    : std::string(row.no_line_text());
    return draw_name(state, name, is_own ? FrameKey{row.function, row.file, row.line} : FrameKey{}, static_cast<int>(i),
                     commands);
  }
  const RangeStackRow& row = answer.summary.stacks[i];
  draw_sums(look, row.sums, answer.summary.total);
  const Definitions& definitions = answer.trace->streams[row.stream].definitions();
  FrameKey key;
  if (const auto own = find_own_frame(definitions, row.stack))
    key = {std::string(definitions.text(own->function)), std::string(definitions.text(own->file)), own->line};
  draw_name(state, stack_text(definitions, row.stack), key, static_cast<int>(i), commands);
}

void draw_rows(const AppState& state, const Look& look, const RangeViewState& view, const RangeAnswer& answer,
               CommandQueue& commands) {
  if (!ImGui::BeginTable("rows", 6, ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY, size_of_last_table(look))) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  const ColumnSetup columns[] = {
      {"Survived", 110},
      {"Blocks", 64, 3},
      {"Net", 84, 1},
      {"Allocated", 84, 2},
      {"Freed", 84, 4},
      {view.by_stack ? "Allocated by (stack, innermost frame first)" : "Allocated by (your code)", 150, 0,
       ImGuiTableColumnFlags_WidthStretch}};
  set_up_table_columns(look, columns);
  table_headers(0, 5);
  ImGuiListClipper clipper;
  const std::size_t rows = view.by_stack ? answer.summary.stacks.size() : answer.summary.user_code.size();
  clipper.Begin(static_cast<int>(rows));
  while (clipper.Step())
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      draw_row(state, look, view, answer, static_cast<std::size_t>(i), commands);
  ImGui::EndTable();
}

}  // namespace

void draw_range(const AppState& state, RangeViewState& view, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().range, "the range")) return;
  const auto answer = state.answers().range.value;
  const Look look(state);
  ImGui::AlignTextToFramePadding();
  if (ImGui::RadioButton("by your code", !view.by_stack)) view.by_stack = false;
  ImGui::SameLine();
  if (ImGui::RadioButton("by stack", view.by_stack)) view.by_stack = true;
  ImGui::SameLine(0, ImGui::GetFontSize());
  const std::string sentence = range_sentence(*answer);
  dim_text(shortened(sentence + " (Esc: clear)", ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  tooltip(sentence);
  draw_copy_menu(ViewKind::range, commands);
  draw_totals(*answer, commands);
  draw_heaps(look, answer->summary);
  draw_rows(state, look, view, *answer, commands);
  if (take_copy(state, ViewKind::range, view.copy_seen))
    copy_table(state, table_from_range(*answer, view.by_stack), commands);
}

std::unique_ptr<DrawnView> make_range() {
  return make_view(draw_range);
}

}  // namespace hbmscope::gui
