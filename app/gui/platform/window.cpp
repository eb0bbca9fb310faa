#include "app/gui/platform/window.h"

#include "app/gui/platform/frame_pacer.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/screenshot.h"
#include "app/gui/platform/session.h"

namespace hbmscope::gui {

namespace {

void run_until_closed(Session& session) {
  FramePacer pacer;
  while (!session.close_wanted()) {
    const auto now = FramePacer::Clock::now();
    session.wait(pacer.pause(now, session.app().busy(), session.input_held()));
    const bool changed = session.update();
    const auto woken = FramePacer::Clock::now();
    if (changed) pacer.note_change(woken);
    const auto pause = pacer.pause(woken, session.app().busy(), session.input_held());
    if (!pause || *pause > FramePacer::Clock::duration::zero()) continue;  // Woken for nothing that can be seen.
    session.draw();
    pacer.note_frame(woken);
    if (!session.app().commands().empty()) pacer.note_change(woken);  // A view asked for something in this frame.
  }
}

}  // namespace

Result<int> run_window(const WindowRequest& request) {
  const bool screenshot = !request.screenshot.empty();
  auto session = Session::open({.surface = screenshot ? Surface::offscreen : Surface::display,
                                .width = request.width,
                                .height = request.height,
                                .scale = request.scale,
                                .remember_layout = !screenshot,
                                .leaves_no_trace = screenshot});
  if (!session) return Failure(session.error());
  push_initial_commands((*session)->app().commands(), request);
  if (screenshot) return write_screenshot(**session, request.screenshot);
  run_until_closed(**session);
  (*session)->app().save_settings();
  return 0;
}

}  // namespace hbmscope::gui
