#include "app/gui/views/tpu/draw_tpu.h"

#include <algorithm>
#include <string>

#include <imgui.h>

#include "analysis/answers/workload.h"
#include "analysis/units/format.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_document.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/look/icons.h"
#include "app/gui/views/drawn_view.h"
#include "app/gui/views/tpu/draw_workload_knobs.h"

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
  colored(look, verdict.fits ? Role::largest_free : Role::failure,
          (verdict.fits ? "" : std::string(icon::warning) + "  ") + verdict.sentence);
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

void draw_answer(const AppState& state, const Look& look, const std::shared_ptr<const WorkloadAnswer>& kept,
                 TpuViewState& view, CommandQueue& commands) {
  const WorkloadAnswer& answer = *kept;
  draw_verdict(look, answer);
  ImGui::Spacing();
  draw_table(state, look, answer.memory, kept, view.memory, {.id = "memory", .fills_view = false}, commands);
  ImGui::Spacing();
  wrapped_text("Sizes, padding and packing are emulated, addresses of buffers are assumed, times are modelled.", true);
  if (answer.figures.rows.empty())
    dim_text(answer.has_text_of_unmodified ? "No figure differs from the unmodified workload."
                                           : "Only the verdict above differs from the unmodified workload.");
  else
    draw_table(state, look, answer.figures, kept, view.figures, {.id = "figures"}, commands);
}

void copy(const AppState& state, const OpenedWorkload& opened, CommandQueue& commands) {
  copy_document(state, describe_workload(*opened.now, opened.changes.empty() ? nullptr : opened.unmodified.get()),
                commands);
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
  draw_answer(state, look, panel.answer, view, commands);
  ImGui::EndChild();
  if (!has_room) draw_controls();
  ImGui::EndChild();
  if (take_copy(state, ViewKind::tpu, view.copy_seen)) copy(state, *panel.answer->opened, commands);
}

std::unique_ptr<DrawnView> make_tpu() {
  return make_view(draw_tpu);
}

}  // namespace hbmscope::gui
