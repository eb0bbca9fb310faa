#include "app/gui/views/range/draw_range.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/answers/range.h"
#include "analysis/query/where.h"
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
// survivors. Each stream numbers its own events, so among several the filter names the heap.
void show_survivors(const RangeAnswer& answer, CommandQueue& commands) {
  const HeapRow* const heap = answer.shown ? &answer.summary.heaps_after[*answer.shown] : nullptr;
  const std::size_t stream = heap != nullptr ? heap->stream : 0;
  commands.push(command::set_moment, answer.range.to);
  std::string filter = fmt::format("event>={} event<{}", answer.from.positions[stream], answer.to.positions[stream]);
  if (answer.trace->streams.size() > 1 && heap != nullptr) filter += " heap=" + where_quote(heap->name);
  commands.push(command::set_filter, filter);
  commands.push(CommandId::show_blocks);
}

void draw_survivors_button(const RangeAnswer& answer, CommandQueue& commands) {
  const RangeSummary& summary = answer.summary;
  if (summary.total.survived.count == 0) return;
  const char* const label = "Show survivors";
  flow(button_width(label), ImGui::GetFontSize());
  const bool is_of_one = answer.trace->streams.size() == 1 || (!answer.is_of_all && answer.shown);
  ImGui::BeginDisabled(!is_of_one);
  if (ImGui::SmallButton(label)) show_survivors(answer, commands);
  ImGui::EndDisabled();
  tooltip(is_of_one
              ? "Goes to the end of the range and keeps only blocks allocated in it, in the heap map and in Blocks"
              : "Each process numbers its own events, so one filter can't select those of several. Choose a device.");
}

// Of the shown heap's layer, as the driver's memory holds what the pools hold: the one with the most in use at a time.
std::optional<std::size_t> find_fullest(const RangeAnswer& answer) {
  if (!answer.shown || !answer.is_of_all) return answer.shown;
  const std::vector<HeapRow>& heaps = answer.summary.heaps_after;
  std::size_t fullest = *answer.shown;
  for (std::size_t i = 0; i < heaps.size(); ++i)
    if (heaps[i].layer == heaps[fullest].layer && answer.most[i].bytes > answer.most[fullest].bytes) fullest = i;
  return fullest;
}

void draw_totals(const RangeAnswer& answer, CommandQueue& commands) {
  const RangeSummary& summary = answer.summary;
  draw_sum("allocated", summary.total.allocated, "Blocks that were allocated in the range, rounding included", true);
  draw_sum("freed", summary.total.freed,
           "Blocks whose release was completed in the range, whenever they were allocated");
  draw_sum("of them older", summary.freed_older, "Released in the range, allocated before it");
  draw_sum("survived", summary.total.survived, "Allocated in the range and alive at its end: leak suspects");
  draw_survivors_button(answer, commands);
  if (const auto fullest = find_fullest(answer)) {
    const HeapRow& heap = summary.heaps_after[*fullest];
    const RangeAnswer::Most& most = answer.most[*fullest];
    draw_sum("at most", text_from_bytes(most.bytes), "in " + heap.name, "Click to go there");
    if (ImGui::IsItemClicked())
      commands.push(command::set_moment, MomentName(*answer.trace, heap.stream, most.position));
  }
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

// Of the shown device, or of all: those that differ between the start and the end of the range, or had more in use in
// it; and whatever the figures above are of, changed or not.
void draw_heaps(const Look& look, const RangeAnswer& answer) {
  const RangeSummary& summary = answer.summary;
  const HeapRow* const chosen = answer.shown ? &summary.heaps_after[*answer.shown] : nullptr;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < summary.heaps_after.size(); ++i) {
    const HeapRow &before = summary.heaps_before[i], &after = summary.heaps_after[i];
    const bool is_of_device =
        answer.is_of_all || chosen == nullptr || (chosen->stream == after.stream && chosen->device == after.device);
    const bool is_of_figures = answer.is_of_all ? chosen != nullptr && chosen->layer == after.layer : &after == chosen;
    if (is_of_figures || (is_of_device && (has_changed(before, after) || answer.most[i].bytes > after.in_use_bytes)))
      shown.push_back(i);
  }
  if (shown.empty()) return;
  // By device; what its programs hold before what the driver has.
  const std::string layer = chosen != nullptr ? chosen->layer : std::string();
  std::stable_sort(shown.begin(), shown.end(), [&](std::size_t a, std::size_t b) {
    const HeapRow &one = summary.heaps_after[a], &other = summary.heaps_after[b];
    return std::tuple(one.layer != layer, one.device, one.rank) <
           std::tuple(other.layer != layer, other.device, other.rank);
  });
  if (!ImGui::BeginTable("heaps", 6, ImGuiTableFlags_RowBg)) return;
  constexpr ImGuiTableColumnFlags pair_of = ImGuiTableColumnFlags_WidthStretch;
  constexpr ColumnSetup columns[] = {{"Heap", 150},
                                     {"In use, before → after", 150, 0, pair_of},
                                     {"At most", 70, 4, pair_of},
                                     {"Pool size", 140, 3, pair_of},
                                     {"Largest free", 140, 1, pair_of},
                                     {"Fragmentation", 120, 2, pair_of}};
  set_up_table_columns(look, columns);
  table_headers(1, 6);
  for (const std::size_t i : shown) {
    const HeapRow &before = summary.heaps_before[i], &after = summary.heaps_after[i];
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(shortened(after.name, ImGui::GetContentRegionAvail().x));
    tooltip(after.name);
    const auto pair = [](const std::string& a, const std::string& b) {
      ImGui::TableNextColumn();
      right_text(a + " → " + b);
    };
    pair(text_from_known_bytes(before.in_use_bytes), text_from_known_bytes(after.in_use_bytes));
    ImGui::TableNextColumn();
    right_text(text_from_bytes(answer.most[i].bytes));
    pair(text_from_known_bytes(before.pool_bytes), text_from_known_bytes(after.pool_bytes));
    pair(text_from_known_bytes(before.largest_free_bytes), text_from_known_bytes(after.largest_free_bytes));
    pair(text_from_known_share(before.external_fragmentation), text_from_known_share(after.external_fragmentation));
  }
  ImGui::EndTable();
}

// The table of the answer that is shown, and of the choice above it.
void renew_table(RangeViewState& view, const std::shared_ptr<const RangeAnswer>& answer, const std::string& sentence) {
  if (view.table_of == answer && view.table_by_stack == view.by_stack && view.table.note == sentence) return;
  view.table_of = answer;
  view.table_by_stack = view.by_stack;
  view.table = view.by_stack ? describe_range_by_stack(*answer->trace, answer->summary)
                             : describe_range_by_code(answer->summary);
  view.table.note = sentence;
}

}  // namespace

void draw_range(const AppState& state, RangeViewState& view, CommandQueue& commands) {
  if (!draw_answer_state(state, state.answers().range, "the range")) return;
  const auto answer = state.answers().range.value;
  const Look look(state);
  ImGui::AlignTextToFramePadding();
  if (radio_button("by your code", !view.by_stack)) view.by_stack = false;
  ImGui::SameLine();
  if (radio_button("by stack", view.by_stack)) view.by_stack = true;
  ImGui::SameLine(0, ImGui::GetFontSize());
  const std::string sentence = range_sentence(*answer, shown_steps(state).get());
  dim_text(shortened(sentence + " (Esc: clear)", ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  tooltip(sentence);
  draw_copy_menu(ViewKind::range, commands);
  draw_totals(*answer, commands);
  draw_heaps(look, *answer);
  renew_table(view, answer, sentence);
  TableRequest request{.id = view.by_stack ? "stacks" : "code", .find = state.position().find};
  TableState& rows = view.by_stack ? view.stack_rows : view.code_rows;
  draw_table(state, look, view.table, answer, rows, request, commands);
  if (take_copy(state, ViewKind::range, view.copy_seen)) copy_table(state, view.table, rows.rows, commands);
}

std::unique_ptr<DrawnView> make_range() {
  return make_view(draw_range);
}

}  // namespace hbmscope::gui
