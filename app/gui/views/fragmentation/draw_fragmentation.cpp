#include "app/gui/views/fragmentation/draw_fragmentation.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/core/trace_tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/fragmentation_ruler.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/step_table.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/fragmentation/draw_pool_costs.h"

namespace hbmscope::gui {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return text_from_share(static_cast<std::int64_t>(part), static_cast<std::int64_t>(whole));
}

// The request that fails at the current time, otherwise the largest one so far.
std::optional<RulerRequest> find_request(const FreeAnswer& answer, const FreeHistory* history) {
  const FailureEvent* const failure = answer.moment->failure(answer.heap);
  if (failure != nullptr && failure->is_out_of_memory && failure->heap == answer.heap.heap)
    return RulerRequest{failure->requested_bytes, true, true, "the request"};
  const LargestRequest* largest =
      history == nullptr ? nullptr : history->largest_request_at(answer.moment->position(answer.heap));
  if (largest == nullptr) return std::nullopt;
  return RulerRequest{largest->bytes, largest->has_failed, false, "largest request so far"};
}

void draw_figures(const FreeBlocks& free, const std::optional<RulerRequest>& request, const FreeHistory* history,
                  std::uint64_t position) {
  text("external fragmentation " + percent(free.fragmented_bytes(), free.bytes));
  tooltip("1 - largest free block / all free bytes: the share of free memory outside the largest free block");
  const auto figure = [](const std::string& words) {
    flow(ImGui::CalcTextSize(words.c_str()).x, ImGui::GetFontSize() * 2);
    text(words);
  };
  figure("largest free block " + text_from_bytes(free.largest_bytes()));
  tooltip(
      "A request of this size fits. The source does not report whether the pool can still grow; if it can, a larger "
      "request fits too.");
  const std::string largest =
      largest_request_text(free, history == nullptr ? nullptr : history->largest_request_at(position),
                           request && request->is_now ? std::optional(request->bytes) : std::nullopt);
  if (!largest.empty()) figure(largest);
}

std::string text_from_step(const Stream& stream, const ScatterStep& step) {
  const std::string what = step.what == HeapChange::What::allocated ? "allocation"
                           : step.what == HeapChange::What::freed   ? "free"
                                                                    : "regions";
  return what + (step.what == HeapChange::What::other ? "" : ", " + own_line_text(stream.definitions(), step.stack)) +
         (step.times > 1 ? ", the largest of " + text_from_count(static_cast<std::int64_t>(step.times))
                         : std::string());
}

void draw_step(const Look& look, const FreeAnswer& answer, const ScatterStep& step, std::uint64_t most,
               CommandQueue& commands) {
  const Stream& stream = answer.moment->stream(answer.heap);
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushID(static_cast<int>(step.position));
  const std::string at = when_text(step.position, step.since_start_ns);
  const bool is_here = step.position == answer.moment->position(answer.heap);
  if (ImGui::Selectable(at.c_str(), is_here, ImGuiSelectableFlags_SpanAllColumns))
    commands.push(command::set_moment, {*answer.moment->trace, answer.heap.stream, step.position});
  tooltip("Shows the time after it, event " + text_from_count(static_cast<std::int64_t>(step.position)));
  ImGui::PopID();
  ImGui::TableNextColumn();
  const std::int64_t delta = step.fragmented_after > step.fragmented_before ? static_cast<std::int64_t>(step.change())
                                                                            : -static_cast<std::int64_t>(step.change());
  bar_cell(look, static_cast<double>(step.change()) / static_cast<double>(most), delta_text_from_bytes(delta),
           look.bar());
  ImGui::TableNextColumn();
  right_text(percent(step.fragmented_before, step.free_before) + " → " +
             percent(step.fragmented_after, step.free_after));
  ImGui::TableNextColumn();
  cell_text(text_from_step(stream, step));
}

void draw_steps(const AppState& state, const Look& look, const FreeAnswer& answer, CommandQueue& commands) {
  bold_text("Largest changes in the whole trace");
  tooltip("How many free bytes an event moved out of the largest free block, or back into it");
  const auto& history = state.answers().free_history;
  if (history.pending()) draw_pending("the largest changes", history.pending_since, history.work.get());
  if (history.failed()) draw_error(state, history.error);
  if (!history.value) return;
  if (history.value->steps.empty()) return dim_text("none");
  if (!ImGui::BeginTable("steps", 4, ImGuiTableFlags_RowBg)) return;
  constexpr ColumnSetup columns[] = {{"When", 90},
                                     {"Fragmented", 100},
                                     {"Fragmentation", 130, 1},
                                     {"Your code", 120, 0, ImGuiTableColumnFlags_WidthStretch}};
  set_up_table_columns(look, columns);
  table_headers(1, 3);
  const std::uint64_t most = std::max<std::uint64_t>(1, history.value->steps.front().change());
  for (const ScatterStep& step : history.value->steps) draw_step(look, answer, step, most, commands);
  ImGui::EndTable();
}

}  // namespace

void draw_fragmentation(const AppState& state, FragmentationState& view, CommandQueue& commands) {
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  if (!draw_answer_state(state, state.answers().free, "free memory"))
    return draw_no_heap(state, state.answers().free.state);
  const auto answer = state.answers().free.value;
  const Look look(state);
  if (!answer->free) {
    const auto pool = find_reported_pool(*answer->moment, answer->heap);
    const std::uint64_t in_use = answer->moment->heap(answer->heap).in_use_bytes;
    wrapped_text(pool ? text_from_bytes(*pool - in_use) +
                            " of this heap's pool is free. How it is split into blocks is unknown: the source does not "
                            "report the regions of the pool."
                      : "Free memory of this heap is unknown: its source does not report the regions of the pool.");
    return;
  }
  // The answer may still be the history of another heap.
  const auto& history = state.answers().free_history;
  const FreeHistory* known = history.state == AnswerState::ready ? history.value.get() : nullptr;
  const auto request = find_request(*answer, known);
  if (draw_heap_chooser(state, *answer->moment->trace, answer->heap, commands))
    ImGui::SameLine(0, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  const std::string sentence =
      sentence_of(*answer->free, request && request->has_failed ? std::optional(request->bytes) : std::nullopt);
  bold_text(shortened(sentence, ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  tooltip(sentence + " This is " + phrase_of(*answer->moment, answer->heap) + ".");
  draw_copy_menu(ViewKind::fragmentation, commands);
  ImGui::BeginChild("body");
  draw_ruler(look, *answer->free, request);
  draw_figures(*answer->free, request, known, answer->moment->position(answer->heap));
  if (answer->device) {
    ImGui::Spacing();
    bold_text(answer->device->title);
    draw_document(state, look, answer->device, view.device, {}, commands);
  }
  draw_pool_costs(state, look, *answer->moment, commands);
  ImGui::Spacing();
  const int other_side = columns_that_fit(look, 350, 2);  // Otherwise below each other.
  if (ImGui::BeginTable("parts", other_side)) {
    ImGui::TableSetupColumn("pieces", ImGuiTableColumnFlags_WidthStretch, 1);
    if (other_side > 1) ImGui::TableSetupColumn("steps", ImGuiTableColumnFlags_WidthStretch, 1.5F);
    ImGui::TableNextColumn();
    draw_step_table(look, "by size", "Free blocks, by size", answer->free->by_size, StepUnit::bytes);
    ImGui::TableNextColumn();
    draw_steps(state, look, *answer, commands);
    ImGui::EndTable();
  }
  ImGui::EndChild();
  if (take_copy(state, ViewKind::fragmentation, view.copy_seen)) copy_table(state, table_from_free(*answer), commands);
}

std::unique_ptr<DrawnView> make_fragmentation() {
  return make_view(draw_fragmentation);
}

}  // namespace hbmscope::gui
