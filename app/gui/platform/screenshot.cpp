#include "app/gui/platform/screenshot.h"

#include <chrono>
#include <optional>
#include <utility>

namespace hbmscope::gui {
namespace {

// A running job never comes to rest: its picture is of what there is so long after it was first seen.
constexpr auto live_patience = std::chrono::seconds(2);

bool shows_running_job(const AppState& state) {
  const Source* source = state.source();
  return source != nullptr && source->live && source->state == AnswerState::ready;
}

}  // namespace

Picture draw_settled(Session& session) {
  constexpr int frames_alike = 3;
  constexpr int frames_at_rest_max = 120;  // Should a view never come to rest, its picture is still worth having.
  Picture last;
  int alike = 1, at_rest = 0;
  std::optional<std::chrono::steady_clock::time_point> live_since;
  while (alike < frames_alike && at_rest < frames_at_rest_max) {
    const bool changed = session.update();
    // Views ask in a frame, so a change is drawn; frames beside it would only take the time of what is worked out.
    if (changed || !session.app().busy()) session.draw();
    if (shows_running_job(session.app().state())) {
      const auto now = std::chrono::steady_clock::now();
      if (!live_since) live_since = now;
      if (now - *live_since > live_patience && session.app().state().answers().heap_map.value) {
        session.draw();
        return session.picture();
      }
    }
    if (session.app().busy()) {
      if (session.app().commands().empty()) session.wait(std::chrono::milliseconds(50));
      alike = 1;
      continue;
    }
    Picture now = session.picture();
    alike = now == last ? alike + 1 : 1;
    last = std::move(now);
    ++at_rest;
  }
  return last;
}

Result<int> write_screenshot(Session& session, const std::string& file) {
  const auto written = write_png(draw_settled(session), file);
  if (!written) return Failure(written.error());
  for (const Source& source : session.app().state().sources)
    if (source.state == AnswerState::failed) return Failure(source.error);
  const Answer<TraceMoment>& moment = session.app().state().answers().moment;
  if (moment.failed()) return Failure(moment.error);
  return 0;
}

}  // namespace hbmscope::gui
