#include "app/gui/shell/live_head.h"

#include <string>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"
#include "app/gui/look/source_state.h"

namespace hbmscope::gui {

void draw_live_head(const AppState& state, CommandQueue& commands) {
  const Source* source = state.source();
  if (source == nullptr || (!source->live && !source->ended)) return;
  draw_state_mark(state, *source, ImGui::GetStyle().FramePadding.y);
  if (source->ended) {
    text(source->ended->words);
    return;
  }
  const LiveStatus& live = *source->live;
  const bool is_held = !state.position().is_at_end();
  constexpr double lag_that_is_said = 1;
  const bool is_recording = (live.report.flags & link::status_flag::is_recording) != 0;
  std::string words = text_from_state(state, *source);
  words += "  |  " + rate_text(live.events_per_second);
  if (live.behind_seconds >= lag_that_is_said) words += fmt::format("  |  {:.0f} s behind", live.behind_seconds);
  words += "  |  " + lost_text(live.report.lost_events);
  if (live.report.pending_requests > 0) words += fmt::format("  |  {} refused, pending", live.report.pending_requests);
  words += is_recording ? "  |  recording " + text_from_bytes(static_cast<std::int64_t>(live.report.recording_bytes))
                        : std::string("  |  not recorded");
  text(words);
  tooltip(text_from_count(static_cast<std::int64_t>(live.report.events)) + " events of " +
          text_from_count(live.report.processes) + (live.report.processes == 1 ? " process" : " processes") +
          (live.report.lost_events == 0 ? "" : "\nLost: the job wrote events faster than they were read.") +
          (live.behind_seconds < lag_that_is_said ? "" : "\nBehind: more was recorded than has arrived here.") +
          (live.report.pending_requests == 0
               ? ""
               : "\nPending: the driver refused" +
                     (live.report.pending_bytes == 0
                          ? std::string()
                          : " " + text_from_bytes(static_cast<std::int64_t>(live.report.pending_bytes))) +
                     ", and the allocator may try again. It has not failed yet.") +
          (live.file_bytes == 0 ? ""
                                : "\n" + text_from_bytes(static_cast<std::int64_t>(live.file_bytes)) +
                                      " of the events are kept in a file, because memory is limited (--max-memory).") +
          (is_held ? "\nHeld: the picture stands still, the job and its recording go on. End follows again." : ""));
  ImGui::SameLine();
  if (ImGui::SmallButton(is_held ? "Follow" : "Hold")) commands.push(is_held ? CommandId::go_to_end : CommandId::play);
  tooltip(is_held ? "Follows the job again (End)." : "Holds the picture; the job and its recording go on (Space).");
  if (why_not(state, CommandId::skip_to_now).empty()) {
    ImGui::SameLine();
    if (ImGui::SmallButton("Skip to now")) commands.push(CommandId::skip_to_now);
    tooltip(fmt::format("{} have not arrived yet. Continues with what happens now; they stay in the recording.",
                        text_from_bytes(static_cast<std::int64_t>(live.waiting_bytes))));
  }
  if ((live.report.flags & link::status_flag::is_attached) != 0) {
    ImGui::SameLine();
    if (ImGui::SmallButton("Detach")) commands.push(CommandId::detach);
    tooltip("The job keeps running without hbmscope; what was recorded stays.");
  }
}

}  // namespace hbmscope::gui
