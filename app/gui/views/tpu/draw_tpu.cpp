#include "app/gui/views/tpu/draw_tpu.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/tpu/draw_workload_knobs.h"
#include "app/gui/views/tpu/workload_table.h"

namespace hbmscope::gui {
namespace {

constexpr std::size_t reasons_shown = 5;

void colored(const Look& look, Role role, const std::string& words) {
  ImGui::PushStyleColor(ImGuiCol_Text, look.role(role));
  wrapped_text(words);
  ImGui::PopStyleColor();
}

void draw_head(const AppState& state, const Source& source, CommandQueue& commands) {
  const WorkloadAnswer& answer = *source.workload->answer;
  ImGui::AlignTextToFramePadding();
  text(shortened(answer.title, ImGui::GetContentRegionAvail().x - ImGui::GetFontSize() * 26));
  tooltip(answer.opened->now->workload.about);
  ImGui::SameLine(0, ImGui::GetFontSize());
  ImGui::BeginDisabled(source.what_if.empty());
  if (ImGui::Button("Undo changes")) commands.push(CommandId::reset_workload);
  ImGui::EndDisabled();
  tooltip(source.what_if.empty() ? "The workload is unmodified." : "Undoes: " + text_from_changes(source.what_if));
  ImGui::SameLine();
  if (ImGui::Button("Copy command")) commands.push(CommandId::copy_workload_command);
  tooltip("Copies the hbmscope tpu run command with these changes");
  ImGui::SameLine();
  if (ImGui::Button(state.context().is_playing ? "Pause" : "Play")) commands.push(CommandId::play);
  tooltip("Plays the program operation by operation (Space)");
  draw_copy_menu(ViewKind::tpu, commands);
}

// The running emulation, or why it failed; the figures below belong to the last result.
void draw_state(const AppState& state, const WorkloadPanel& panel, const Source& source, CommandQueue& commands) {
  if (panel.emulating &&
      draw_pending("the emulation with " + text_from_changes(panel.emulating->changes), panel.emulating->since)) {
    ImGui::SameLine();
    if (ImGui::SmallButton("Cancel")) commands.push(CommandId::stop_emulating);
    tooltip("Keeps what is shown. A workload of a million operations takes seconds.");
  }
  if (!panel.error) return;
  draw_error(state, *panel.error);
  const auto& shown = panel.answer->opened->changes;
  wrapped_text("This can't be emulated: " + text_from_changes(source.what_if) +
                   ". The result below is of the workload " +
                   (shown.empty() ? "without changes." : "with " + text_from_changes(shown) + "."),
               true);
}

void draw_verdict(const Look& look, const WorkloadAnswer& answer) {
  const WorkloadVerdict& verdict = answer.verdict;
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  colored(look, verdict.fits ? Role::largest_free : Role::failure, (verdict.fits ? "" : "! ") + verdict.sentence);
  ImGui::PopFont();
  for (std::size_t i = 0; i < std::min(verdict.reasons.size(), reasons_shown); ++i) {
    ImGui::Bullet();
    wrapped_text(verdict.reasons[i].sentence);
    std::string more;
    if (verdict.reasons[i].step) more = "Step " + text_from_count(*verdict.reasons[i].step) + ". ";
    if (!verdict.reasons[i].text.empty()) more += "Message of the compiler or the runtime:\n" + verdict.reasons[i].text;
    if (!more.empty()) tooltip(more);
  }
  if (verdict.reasons.size() > reasons_shown)
    dim_text("and " + text_from_count(verdict.reasons.size() - reasons_shown) + " more");
  if (!answer.opened->changes.empty() && answer.unmodified_fits != verdict.fits)
    dim_text(answer.unmodified_fits ? "Unmodified, it fits." : "Unmodified, it does not fit.");
}

void draw_tiers(const Look& look, const WorkloadAnswer& answer) {
  if (!ImGui::BeginTable("tiers", 5, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
  const float figure = ImGui::CalcTextSize("1,023.99 GiB").x;
  ImGui::TableSetupColumn("Memory");
  ImGui::TableSetupColumn("Peak", 0, figure);
  ImGui::TableSetupColumn("Capacity", 0, figure);
  ImGui::TableSetupColumn("Full", ImGuiTableColumnFlags_WidthFixed, look.px(120));
  ImGui::TableSetupColumn("Room", ImGuiTableColumnFlags_WidthStretch, 1);
  table_headers(1, 3);
  for (const TierRow& row : answer.tiers) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(row.name);
    ImGui::TableNextColumn();
    right_text(text_from_bytes(row.peak_bytes));
    tooltip(exact_text_from_bytes(signed_from(row.peak_bytes)));
    ImGui::TableNextColumn();
    right_text(row.capacity_bytes ? text_from_bytes(*row.capacity_bytes) : "?", true);
    if (!row.capacity_bytes) tooltip("Its size is not published, or it is host memory.");
    ImGui::TableNextColumn();
    if (row.capacity_bytes)
      bar_cell(look, static_cast<double>(row.peak_bytes) / static_cast<double>(*row.capacity_bytes),
               text_from_share(signed_from(row.peak_bytes), signed_from(*row.capacity_bytes)), look.bar());
    ImGui::TableNextColumn();
    row.over_bytes ? colored(look, Role::failure, "! " + text_from_room(row)) : dim_text(text_from_room(row));
    if (row.over_bytes) tooltip("How much larger the largest failed request was than the memory available to it.");
  }
  ImGui::EndTable();
}

std::string text_of(const std::optional<WorkloadFigure>& figure) {
  return figure ? text_from_figure(*figure) : "none";
}

std::string change_of(const WorkloadDifference& difference) {
  if (!difference.now || !difference.was || !difference.now->value || !difference.was->value) return {};
  const std::int64_t now = signed_from(*difference.now->value), was = signed_from(*difference.was->value);
  switch (difference.now->unit) {
    case FigureUnit::bytes: return delta_text_from_bytes(now - was);
    case FigureUnit::ns: return delta_text_from_share(was, now);
    case FigureUnit::count: return delta_text_from_count(now - was);
  }
  return {};
}

void draw_differences(const WorkloadAnswer& answer) {
  const bool is_changed = !answer.opened->changes.empty();
  if (is_changed && answer.differences.empty())
    return dim_text(answer.has_text_of_unmodified ? "No figure differs from the unmodified workload."
                                                  : "Only the verdict above differs from the unmodified workload.");
  if (!ImGui::BeginTable("figures", is_changed ? 4 : 3, ImGuiTableFlags_RowBg | ImGuiTableFlags_SizingFixedFit)) return;
  const float figure = ImGui::CalcTextSize("+1,023.99 GiB").x;
  ImGui::TableSetupColumn(is_changed ? "Differences" : "Cost");
  ImGui::TableSetupColumn("Now", 0, figure);
  if (is_changed) ImGui::TableSetupColumn("Unmodified", 0, figure);
  ImGui::TableSetupColumn(is_changed ? "Change" : "", is_changed ? 0 : ImGuiTableColumnFlags_WidthStretch,
                          is_changed ? figure : 1);
  table_headers(1, is_changed ? 4 : 2);
  const auto name = [](const std::string& of, const std::string& what) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    text(of + ", " + what);
    ImGui::TableNextColumn();
  };
  if (!is_changed)
    for (const WorkloadFigure& each : answer.figures) {
      name(each.of, each.name);
      right_text(text_from_figure(each));
      ImGui::TableNextColumn();
      dim_text(each.note);
    }
  for (const WorkloadDifference& each : answer.differences) {
    name(each.of, each.name);
    right_text(text_of(each.now));
    ImGui::TableNextColumn();
    right_text(text_of(each.was), true);
    ImGui::TableNextColumn();
    right_text(change_of(each));
  }
  ImGui::EndTable();
}

void draw_answer(const Look& look, const WorkloadAnswer& answer) {
  draw_verdict(look, answer);
  ImGui::Spacing();
  draw_tiers(look, answer);
  ImGui::Spacing();
  draw_differences(answer);
  wrapped_text("Sizes, padding and packing are emulated, addresses of buffers are assumed, times are modelled.", true);
}

}  // namespace

void draw_tpu(const AppState& state, TpuViewState& view, CommandQueue& commands) {
  if (!draw_source_state(state)) return;
  const Source& source = *state.source();
  if (!source.workload) return;
  const WorkloadPanel& panel = *source.workload;
  const Look look(state);
  draw_head(state, source, commands);
  // Controls on the left, results on the right; if there is not enough room, the results are above the controls.
  const float all = ImGui::GetContentRegionAvail().x, least = ImGui::GetFontSize() * 22;
  const bool has_room = all >= 2.2F * least;
  const auto draw_controls = [&] {
    ImGui::BeginChild("controls", {has_room ? std::max(least, all * 0.36F) : 0, 0},
                      has_room ? 0 : ImGuiChildFlags_AutoResizeY);
    draw_workload_knobs(state, source, commands);
    ImGui::EndChild();
  };
  ImGui::BeginChild("body");
  if (has_room) {
    draw_controls();
    ImGui::SameLine(0, look.px(18));
  }
  ImGui::BeginChild("answer", {0, 0}, has_room ? 0 : ImGuiChildFlags_AutoResizeY);
  draw_state(state, panel, source, commands);
  draw_answer(look, *panel.answer);
  ImGui::EndChild();
  if (!has_room) draw_controls();
  ImGui::EndChild();
  if (take_copy(state, ViewKind::tpu, view.copy_seen)) copy_table(state, table_from_workload(*panel.answer), commands);
}

std::unique_ptr<DrawnView> make_tpu() {
  return make_view(draw_tpu);
}

}  // namespace hbmscope::gui
