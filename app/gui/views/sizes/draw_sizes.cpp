#include "app/gui/views/sizes/draw_sizes.h"

#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/step_table.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void draw_lifetimes(const Look& look, const char* id, const char* title, const LifetimeHistograms& lifetimes,
                    bool by_events) {
  if (lifetimes.by_ns && !by_events)
    draw_step_table(look, id, title, *lifetimes.by_ns, StepUnit::ns);
  else
    draw_step_table(look, id, title, lifetimes.by_events, StepUnit::events);
  if (lifetimes.unknown_count == 0) return;
  dim_text("? " + text_from_count(static_cast<std::int64_t>(lifetimes.unknown_count)) + " blocks, " +
           text_from_bytes(static_cast<std::int64_t>(lifetimes.unknown_bytes)));
  tooltip("Allocated before the first event: age unknown.");
}

void draw_head(const AppState& state, SizesState& view, const SizesAnswer& answer, CommandQueue& commands) {
  if (draw_heap_chooser(state, *answer.moment->trace, answer.heap, commands)) ImGui::SameLine(0, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  if (answer.metrics.ages.by_ns) {
    dim_text("ages and lifetimes in");
    ImGui::SameLine();
    if (ImGui::RadioButton("time", !view.by_events)) view.by_events = false;
    ImGui::SameLine();
    if (ImGui::RadioButton("events", view.by_events)) view.by_events = true;
  } else {
    dim_text("ages and lifetimes in events (this file has no times)");
  }
  ImGui::SameLine(0, ImGui::GetFontSize() * 2);
  dim_text(shortened(phrase_of(answer.moment->moment), ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
  draw_copy_menu(ViewKind::sizes, commands);
}

}  // namespace

void draw_sizes(const AppState& state, SizesState& view, CommandQueue& commands) {
  if (state.answers().moment.failed()) draw_moment_error(state, commands);
  if (!draw_answer_state(state, state.answers().sizes, "the sizes"))
    return draw_no_heap(state, state.answers().sizes.state);
  const auto answer = state.answers().sizes.value;
  const HeapMetrics& metrics = answer->metrics;
  const Look look(state);
  draw_head(state, view, *answer, commands);
  ImGui::BeginChild("body");
  if (ImGui::BeginTable("histograms", columns_that_fit(look, 205, metrics.free_gaps ? 4 : 3))) {
    ImGui::TableNextColumn();
    draw_step_table(look, "live", "Live blocks, by size", metrics.live_sizes, StepUnit::bytes);
    if (metrics.free_gaps) {
      ImGui::TableNextColumn();
      draw_step_table(look, "gaps", "Free gaps, by size", *metrics.free_gaps, StepUnit::bytes);
    }
    ImGui::TableNextColumn();
    draw_lifetimes(look, "ages", "Age of live blocks", metrics.ages, view.by_events);
    ImGui::TableNextColumn();
    draw_lifetimes(look, "lifetimes", "Lifetime of released blocks, so far", metrics.lifetimes, view.by_events);
    ImGui::EndTable();
  }
  ImGui::EndChild();
  if (take_copy(state, ViewKind::sizes, view.copy_seen)) copy_table(state, table_from_sizes(*answer), commands);
}

std::unique_ptr<DrawnView> make_sizes() {
  return make_view(draw_sizes);
}

}  // namespace hbmscope::gui
