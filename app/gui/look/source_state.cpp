#include "app/gui/look/source_state.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <imgui.h>

#include "analysis/units/format.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

constexpr auto silence_that_is_said = std::chrono::seconds(2);

std::chrono::steady_clock::duration silence_of(const Source& source) {
  return std::chrono::steady_clock::now() - source.live->reported_at;
}

bool is_paused(const AppState& state, const Source& source) {
  return state.demo && state.demo->is_paused &&
         std::any_of(state.demo->runs.begin(), state.demo->runs.end(),
                     [&](const DemoRun& run) { return run.path == source.path; });
}

}  // namespace

SourceState state_of(const AppState& state, const Source& source) {
  if (!source.live) return SourceState::ended;
  if (silence_of(source) > silence_that_is_said) return SourceState::silent;
  if (source.id == state.position().source && !state.position().is_at_end()) return SourceState::held;
  return is_paused(state, source) ? SourceState::paused : SourceState::live;
}

std::string text_from_state(const AppState& state, const Source& source) {
  switch (state_of(state, source)) {
    case SourceState::live: return "live";
    case SourceState::held: return "held";
    case SourceState::paused: return "paused";
    case SourceState::silent:
      return fmt::format("no data for {} s",
                         std::chrono::duration_cast<std::chrono::seconds>(silence_of(source)).count());
    case SourceState::ended: break;
  }
  return source.ended && source.ended->runs_on ? "detached" : "ended";
}

std::string rate_text(double events_per_second) {
  if (events_per_second < 10'000) return text_from_count(std::llround(events_per_second)) + " events/s";
  if (events_per_second < 1e6) return fmt::format("{:.0f} k events/s", events_per_second / 1e3);
  return fmt::format("{:.1f} M events/s", events_per_second / 1e6);
}

std::string lost_text(std::uint64_t lost_events) {
  return text_from_count(static_cast<std::int64_t>(lost_events)) + " lost";
}

void draw_state_mark(const AppState& state, const Source& source, float text_offset) {
  const Look look(state);
  const SourceState now = state_of(state, source);
  const float size = ImGui::GetTextLineHeight() * 0.3F;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 center{at.x + size, at.y + text_offset + ImGui::GetTextLineHeight() / 2};
  ImDrawList& draw = *ImGui::GetWindowDrawList();
  const ImU32 color =
      now == SourceState::ended ? ImGui::GetColorU32(ImGuiCol_TextDisabled) : look.role(Role::largest_free);
  if (now == SourceState::silent || now == SourceState::ended)
    draw.AddRect({center.x - size, center.y - size}, {center.x + size, center.y + size}, color, 0, look.px(2));
  else if (now == SourceState::live)
    draw.AddCircleFilled(center, size, color);
  else
    draw.AddCircle(center, size - look.px(1), color, 0, look.px(2));
  ImGui::Dummy({2 * size, ImGui::GetTextLineHeight()});
  ImGui::SameLine();
}

void draw_source_state(const AppState& state, const Source& source) {
  if (!source.live && !source.ended) return;
  draw_state_mark(state, source, 0);
  if (source.ended) {
    wrapped_text(text_from_state(state, source) + "  |  " + lost_text(source.ended->lost_events), true);
    tooltip(source.ended->words);
    return;
  }
  wrapped_text(text_from_state(state, source) + "  |  " + rate_text(source.live->events_per_second) + "  |  " +
                   lost_text(source.live->report.lost_events),
               true);
}

}  // namespace hbmscope::gui
