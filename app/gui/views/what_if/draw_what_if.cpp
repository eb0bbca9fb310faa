#include "app/gui/views/what_if/draw_what_if.h"

#include <algorithm>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/table_columns.h"
#include "app/gui/look/text_field.h"
#include "app/gui/look/trace_head.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/what_if/what_if_table.h"

namespace hbmscope::gui {
namespace {

void draw_field(const AppState& state, WhatIfState& view, CommandQueue& commands) {
  const std::string& words = state.position().what_if;
  if (view.seen != words) view.typed = view.seen = words;
  ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 5);
  text_field("##try", "Try: XLA_CLIENT_MEM_FRACTION=.9, device=h200, free=train.py:48, donate=train.py:48", view.typed);
  const bool is_entered = ImGui::IsItemDeactivatedAfterEdit();
  tooltip(
      "A setting, allocator=NAME, version=NAME or device=NAME, or several with spaces between them.\n"
      "free=LINE: blocks of this line of your code are freed before it requests the next ones.\n"
      "donate=LINE: they are donated to the next request of the same size.");
  if (is_entered && view.typed != words) commands.push(command::set_what_if, view.typed);
}

std::string details_of(const WhatIfRow& row) {
  const allocator::ReplayResult& result = row.result;
  std::string words = fmt::format("{}{}\n{} served, {} refused; {} from the driver", row.scenario.name,
                                  row.verdict == WhatIfVerdict::not_reproduced ? "\nnot reproduced" : "",
                                  text_from_count_of(result.allocations, "request"), text_from_count(result.refused),
                                  text_from_count_of(result.driver_claims, "allocation"));
  if (const auto& failure = result.first_failure)
    words += fmt::format("\nfirst failure: {} requested, {} free in the pool, the largest block {}",
                         text_from_bytes(failure->request.bytes), text_from_bytes(failure->free_bytes),
                         text_from_bytes(failure->largest_usable_bytes));
  switch (row.confidence) {
    case Confidence::exact: return words + "\nexact: the allocator's rules were compared with the original";
    case Confidence::checked: return words + "\nchecked: this recording replays address for address";
    case Confidence::approximate: break;
  }
  return words + "\napproximate: the figures may be off";
}

void draw_row(const Look& look, const WhatIfRow& row, std::uint64_t most, CommandQueue& commands) {
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, look.vec(row.fits() ? Role::largest_free : Role::failure));
  const bool is_known = row.verdict != WhatIfVerdict::not_reproduced;
  text(is_known ? std::string(text_from_fits(row)) : "\u2013");
  ImGui::PopStyleColor();
  ImGui::TableNextColumn();
  ImGui::PushID(row.scenario.name.c_str());
  if (ImGui::Selectable(row.scenario.name.c_str(), row.scenario.is_own, ImGuiSelectableFlags_SpanAllColumns))
    commands.push(command::set_clipboard, row.scenario.name);
  tooltip(details_of(row) + "\nA click copies the setting.");
  ImGui::PopID();
  ImGui::TableNextColumn();
  right_text(text_from_bytes(row.result.peak_in_use_bytes));
  ImGui::TableNextColumn();
  const std::uint64_t pool = row.result.statistics.peak_pool_bytes;
  bar_cell(look, static_cast<double>(pool) / static_cast<double>(most), text_from_bytes(pool), look.bar());
  ImGui::TableNextColumn();
  right_text(fragmentation_text(row));
  ImGui::TableNextColumn();
  right_text(text_from_count(row.result.driver_claims + row.result.driver_releases + row.result.driver_refusals));
  ImGui::TableNextColumn();
  cell_text(text_from_confidence(row.confidence), row.confidence == Confidence::approximate);
  ImGui::TableNextColumn();
  cell_text(first_failure_text(row));
}

void draw_rows(const Look& look, const WhatIfAnswer& answer, CommandQueue& commands) {
  if (answer.rows.empty()) return;
  constexpr ImGuiTableFlags flags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY;
  if (!ImGui::BeginTable("settings", 8, flags, size_of_last_table(look))) return;
  constexpr ColumnSetup columns[] = {
      {"Fits", 32},           {"Setting", 260, 0, ImGuiTableColumnFlags_WidthStretch, 2},
      {"Peak in use", 80, 2}, {"Peak pool", 100},
      {"Fragmented", 80, 3},  {"Driver calls", 80, 4},
      {"Figures", 90, 1},     {"First failure", 150, 1, ImGuiTableColumnFlags_WidthStretch}};
  set_up_table_columns(look, columns);
  ImGui::TableSetupScrollFreeze(0, 1);
  table_headers(2, 6);
  std::uint64_t most = 1;
  for (const WhatIfRow& row : answer.rows) most = std::max(most, row.result.statistics.peak_pool_bytes);
  for (const WhatIfRow& row : answer.rows) draw_row(look, row, most, commands);
  ImGui::EndTable();
}

}  // namespace

void draw_what_if(const AppState& state, WhatIfState& view, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  draw_field(state, view, commands);
  ImGui::SameLine();
  draw_copy_menu(ViewKind::what_if, commands);
  if (!draw_answer_state(state, state.answers().what_if, "the replays")) return;
  const WhatIfAnswer& answer = *state.answers().what_if.value;
  if (!answer.wrong_words.empty()) wrapped_text(answer.wrong_words);
  if (answer.unknown) {
    wrapped_text("Nothing can be replayed: " + answer.unknown->what + ".");
    return wrapped_text("If the device is unknown, type it: device=h100, or device=80GiB.", true);
  }
  wrapped_text(answer.own, true);
  for (const std::string& note : answer.notes) wrapped_text(note + ".", true);
  draw_rows(Look(state), answer, commands);
  if (take_copy(state, ViewKind::what_if, view.copy_seen)) copy_table(state, table_from_what_if(answer), commands);
}

std::unique_ptr<DrawnView> make_what_if() {
  return make_view(draw_what_if);
}

}  // namespace hbmscope::gui
