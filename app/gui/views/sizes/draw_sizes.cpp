#include "app/gui/views/sizes/draw_sizes.h"

#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
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

std::string text_from_bin(const BfcBin& bin) {
  const auto bytes = [](const std::optional<std::uint64_t>& value) {
    return value ? text_from_bytes(*value) : std::string("an unknown size");
  };
  const BfcBinFigures& known = bin.known();
  std::string text = text_from_count_of(known.blocks.value_or(0), "block") + ", " +
                     text_from_count(known.blocks_in_use.value_or(0)) + " in use: " + bytes(known.bytes) + ", " +
                     bytes(known.in_use_bytes) + " in use";
  if (bin.known_requested_bytes()) text += ", " + bytes(bin.known_requested_bytes()) + " requested";
  return text;
}

// One row per bin: XLA's lists of blocks by size, used and free ones together.
void draw_bins(const Look& look, const std::vector<BfcBin>& bins) {
  bold_text(bins.front().computed.blocks ? "Bins" : "Bins, as reported");
  tooltip(
      "The BFC allocator's blocks and free blocks by size: it looks for a free block in the bin of the request's size, "
      "then in the larger ones.");
  std::uint64_t most = 1;
  for (const BfcBin& bin : bins) most = std::max(most, bin.known().bytes.value_or(0));
  if (!ImGui::BeginTable("bins", 3, ImGuiTableFlags_RowBg)) return;
  ImGui::TableSetupColumn("From", ImGuiTableColumnFlags_WidthFixed, look.px(72));
  ImGui::TableSetupColumn("In use", ImGuiTableColumnFlags_WidthFixed, look.px(64));
  ImGui::TableSetupColumn("Bytes", ImGuiTableColumnFlags_WidthStretch, 1);
  table_headers(0, 3);
  for (const BfcBin& bin : bins) {
    const BfcBinFigures& known = bin.known();
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    right_text(text_from_bytes(bin.from_bytes));
    tooltip(text_from_bin(bin));
    ImGui::TableNextColumn();
    right_text(text_from_count(known.blocks_in_use.value_or(0)) + " of " + text_from_count(known.blocks.value_or(0)));
    ImGui::TableNextColumn();
    const std::uint64_t bytes = known.bytes.value_or(0);
    bar_cell(look, static_cast<double>(bytes) / static_cast<double>(most), text_from_bytes(bytes), look.bar());
  }
  ImGui::EndTable();
}

void draw_head(const AppState& state, SizesState& view, const SizesAnswer& answer, CommandQueue& commands) {
  if (draw_heap_chooser(state, *answer.moment->trace, answer.heap, commands)) ImGui::SameLine(0, ImGui::GetFontSize());
  ImGui::AlignTextToFramePadding();
  if (answer.metrics.ages.by_ns) {
    dim_text("ages and lifetimes in");
    ImGui::SameLine();
    if (radio_button("time", !view.by_events)) view.by_events = false;
    ImGui::SameLine();
    if (radio_button("events", view.by_events)) view.by_events = true;
  } else {
    dim_text("ages and lifetimes in events (this file has no times)");
  }
  ImGui::SameLine(0, ImGui::GetFontSize() * 2);
  dim_text(
      shortened(phrase_of(*answer.moment, answer.heap), ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5));
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
  const int columns = 3 + (metrics.free_gaps ? 1 : 0) + (answer->bins.empty() ? 0 : 1);
  if (ImGui::BeginTable("histograms", columns_that_fit(look, 205, columns))) {
    ImGui::TableNextColumn();
    draw_step_table(look, "live", "Live blocks, by size", metrics.live_sizes, StepUnit::bytes);
    if (metrics.free_gaps) {
      ImGui::TableNextColumn();
      draw_step_table(look, "gaps", "Free gaps, by size", *metrics.free_gaps, StepUnit::bytes);
    }
    if (!answer->bins.empty()) {
      ImGui::TableNextColumn();
      draw_bins(look, answer->bins);
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
