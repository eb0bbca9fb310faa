#include "app/gui/views/summary/draw_summary.h"

#include "analysis/answers/dry_run.h"
#include "analysis/model/device_name.h"
#include "analysis/query/log_headline.h"
#include "analysis/units/format.h"
#include "app/gui/core/amounts.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/look/answer_state.h"
#include "app/gui/look/draw_document.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/frame_menu.h"
#include "app/gui/views/drawn_view.h"

namespace hbmscope::gui {
namespace {

void draw_figures(const Look& look, const ProfileSummary& summary, const ProfileView& view, bool of_trace) {
  if (!ImGui::BeginTable("figures", 2, ImGuiTableFlags_SizingFixedFit)) return;
  const auto figure = [&](std::string_view name, std::string_view value, std::string_view more) {
    ImGui::TableNextRow(0, look.px(22));
    ImGui::TableNextColumn();
    dim_text(name);
    ImGui::TableNextColumn();
    text(value);
    tooltip(more);
  };
  const std::string_view held = of_trace ? "In use" : "Held";
  figure(amount_title(view) == "Bytes" ? held : amount_title(view), amount_text(view, summary.total.bytes),
         exact_amount_text(view, summary.total.bytes));
  if (view.selected.bytes != view.total.bytes)
    figure("Of the profile", text_from_share(view.selected.bytes, view.total.bytes),
           "The filter keeps " + amount_text(view, view.selected.bytes) + " of " + amount_text(view, view.total.bytes) +
               ".");
  figure(of_trace ? "Blocks" : "Count", text_from_count(summary.total.count),
         exact_text_from_count(summary.total.count));
  if (summary.total.unknown > 0)
    figure("Of unknown size", "? (" + text_from_count(summary.total.unknown) + ")",
           "The source does not report their size. They are counted but not in the sums.");
  figure("Samples",
         text_from_count(static_cast<std::int64_t>(view.sample_count())) + " of " +
             text_from_count(static_cast<std::int64_t>(view.profile->sample_count())),
         "A sample is one stack with one set of labels.");
  figure("Frames", text_from_count(static_cast<std::int64_t>(view.frames.size())),
         "Grouped as chosen in the list at the top.");
  if (view.profile->time_ns != 0) figure("Taken", text_from_unix_ns(view.profile->time_ns) + " UTC", "");
  figure("File", text_from_bytes(static_cast<std::int64_t>(view.profile->file_bytes)),
         text_from_bytes(static_cast<std::int64_t>(view.profile->inflated_bytes)) + " uncompressed");
  ImGui::EndTable();
}

void draw_warnings(const std::vector<JobWarning>& warnings) {
  if (!warnings.empty()) ImGui::SeparatorText("Settings of the job");
  for (const JobWarning& warning : warnings) {
    ImGui::Bullet();
    wrapped_text(text_from_warning(warning));
  }
  if (!warnings.empty()) ImGui::Spacing();
}

// The notes end with the reason why there is no heap map. This text says how to get one.
void draw_what_is_missing(SummaryState& summary) {
  ImGui::Spacing();
  if (ImGui::Button("How to get them")) summary.how_open = !summary.how_open;
  if (!summary.how_open) return;
  wrapped_text(
      "A profile shows one time. Write several while the job runs (jax.profiler.save_device_memory_profile every few "
      "hundred steps) and open them together: Totals shows them as a series, and any two can be compared. pprof files "
      "have no addresses; recordings of hbmscope run and snapshots of an allocator do.");
}

// A log that has sentences, and nothing to add up.
bool draw_log(const AppState& state, const ProfileView& view, SummaryState& summary, CommandQueue& commands) {
  const auto& trace = state.source()->trace;
  if (!trace || !is_of_log(*trace) || view.sample_count() > 0) return false;
  Document all{.title = headline_of_log(*trace)};
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  wrapped_text(all.title);
  ImGui::PopFont();
  ImGui::Spacing();
  for (const NoteOfLog& note : notes_of_log(*trace)) {
    wrapped_text(std::string(note.lead) + note.text);
    all.add(Sentence{.lead = std::string(note.lead), .text = note.text});
  }
  draw_warnings(state.source()->warnings);
  if (take_copy(state, ViewKind::summary, summary.copy_seen)) copy_document(state, all, commands);
  return true;
}

}  // namespace

void draw_summary(const AppState& state, SummaryState& summary, CommandQueue& commands) {
  if (!draw_source_state_in_full(state, commands)) return;
  if (!draw_answer_state(state, state.answers().summary, "the summary")) return;
  const auto& answers = state.answers();
  if (!answers.view.value) return;
  const ProfileSummary& answer = answers.summary.value->summary;
  const ProfileView& view = *answers.view.value;
  const Look look(state);

  ImGui::AlignTextToFramePadding();
  dim_text(state.source()->name());
  tooltip(state.source()->path);
  draw_copy_menu(ViewKind::summary, commands);
  if (draw_log(state, view, summary, commands)) return;
  ImGui::PushFont(bold_font(), ImGui::GetStyle().FontSizeBase * 1.15F);
  wrapped_text(answer.headline);
  ImGui::PopFont();
  ImGui::Spacing();
  if (state.source()->trace) {
    DocumentState kept;  // It has no tables.
    const auto verdict = std::make_shared<const Document>(describe_recorded_verdict(*state.source()->trace));
    draw_document(state, look, verdict, kept, {}, commands);
  }
  draw_warnings(state.source()->warnings);
  draw_figures(look, answer, view, state.source()->trace != nullptr);
  draw_document(state, look, answers.summary.value->tables, summary.tables, {}, commands);
  if (!answer.notes.empty()) ImGui::SeparatorText("Notes");
  for (const std::string& note : answer.notes) {
    ImGui::Bullet();
    wrapped_text(note);
  }
  if (!answer.notes.empty()) draw_what_is_missing(summary);
  if (!take_copy(state, ViewKind::summary, summary.copy_seen)) return;
  Document all{.title = answer.headline};
  for (const std::string& note : answer.notes) all.add(Sentence{.text = note});
  copy_document(state, all.add(*answers.summary.value->tables), commands);
}

std::unique_ptr<DrawnView> make_summary() {
  return make_view(draw_summary);
}

}  // namespace hbmscope::gui
