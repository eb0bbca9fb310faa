#include "app/gui/views/source/draw_source.h"

#include <algorithm>
#include <string>

#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/source_facts.h"
#include "app/gui/core/tables.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/source/draw_log_lines.h"

namespace hbmscope::gui {
namespace {

void draw_line(const Look& look, const SourceListing& listing, const ProfileView& view, std::int64_t number) {
  const auto amount = listing.amounts.find(number);
  const bool held = amount != listing.amounts.end();
  ImGui::TableNextRow(0, look.px(20));
  if (number == listing.focus) ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg1, look.role(Role::parameters, 0.22F));
  ImGui::TableNextColumn();
  if (held && amount->second.flat.bytes != 0) {
    const double share = static_cast<double>(amount->second.flat.bytes) /
                         static_cast<double>(std::max<std::int64_t>(1, listing.total.bytes));
    bar_cell(look, share, amount_text(view, amount->second.flat.bytes), look.bar());
    tooltip(exact_amount_text(view, amount->second.flat.bytes) + " allocated by this line itself, " +
            text_from_share(amount->second.flat.bytes, listing.total.bytes) + " " + base_text(view));
  }
  ImGui::TableNextColumn();
  if (held) {
    right_text(amount_text(view, amount->second.cum.bytes));
    tooltip(exact_amount_text(view, amount->second.cum.bytes) + " by this line and what it calls, " +
            text_from_share(amount->second.cum.bytes, listing.total.bytes) + " " + base_text(view));
  }
  ImGui::PushFont(mono_font(), 0.0F);
  ImGui::TableNextColumn();
  right_text(std::to_string(number), true);
  ImGui::TableNextColumn();
  text(listing.lines[static_cast<std::size_t>(number) - 1]);
  ImGui::PopFont();
}

}  // namespace

void draw_source(const AppState& state, SourceViewState& source, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  if (shown_log_line(state)) return draw_log_lines(state, source, commands);
  if (state.position().selection.empty()) {
    wrapped_text("Select a frame in any view to see its source code here, with the bytes of each line.", true);
    return;
  }
  const Answer<SourceListing>& answer = state.answers().listing;
  const auto& view = state.answers().view.value;
  if (answer.failed()) {
    draw_error(state, answer.error);
    return;
  }
  if (answer.pending()) draw_pending("the source", answer.pending_since);
  if (!answer.value || !view) {
    if (!answer.pending())
      wrapped_text("\"" + state.position().selection.function + "\" is hidden by the filter.", true);
    return;
  }
  const SourceListing& listing = *answer.value;
  const Look look(state);
  ImGui::AlignTextToFramePadding();
  text(shortened(listing.path, ImGui::GetContentRegionAvail().x * 0.6F, true));
  tooltip(listing.path + "\nIts path in the profile: " + listing.named);
  if (!listing.exact) {
    ImGui::SameLine();
    dim_text("found by name; it may be another version of the file");
  }
  draw_copy_menu(ViewKind::source, commands);
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_ScrollY | ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit;
  if (ImGui::BeginTable("source", 4, flags)) {
    ImGui::TableSetupScrollFreeze(0, 1);
    ImGui::TableSetupColumn("Flat", ImGuiTableColumnFlags_WidthFixed, look.px(92));
    ImGui::TableSetupColumn("Cumulative", ImGuiTableColumnFlags_WidthFixed, look.px(84));
    ImGui::TableSetupColumn("Line", ImGuiTableColumnFlags_WidthFixed, look.px(44));
    ImGui::TableSetupColumn("Source");
    table_headers(0, 3);
    const auto focus = source.shown == answer.value ? 0 : static_cast<int>(listing.focus);  // 0: it was scrolled to.
    source.shown = answer.value;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(listing.lines.size()));
    if (focus > 0 && focus <= static_cast<int>(listing.lines.size())) clipper.IncludeItemByIndex(focus - 1);
    while (clipper.Step())
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        draw_line(look, listing, *view, i + 1);
        if (i + 1 == focus) ImGui::SetScrollHereY(0.4F);
      }
    ImGui::EndTable();
  }
  if (take_copy(state, ViewKind::source, source.copy_seen))
    copy_table(state, table_from_listing(listing, *view), commands);
}

std::unique_ptr<DrawnView> make_source() {
  return make_view(draw_source);
}

}  // namespace hbmscope::gui
