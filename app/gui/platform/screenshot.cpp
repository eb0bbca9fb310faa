#include "app/gui/platform/screenshot.h"

#include <utility>

namespace hbmscope::gui {

Picture draw_settled(Session& session) {
  constexpr int frames_alike = 3;
  constexpr int frames_at_rest_max = 120;  // Should a view never come to rest, its picture is still worth having.
  Picture last;
  int alike = 1, at_rest = 0;
  while (alike < frames_alike && at_rest < frames_at_rest_max) {
    const bool changed = session.update();
    // Views ask in a frame, so a change is drawn; frames beside it would only take the time of what is worked out.
    if (changed || !session.app().busy()) session.draw();
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
