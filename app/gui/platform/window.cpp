#include "app/gui/platform/window.h"

#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/screenshot.h"
#include "app/gui/platform/session.h"
#include "app/gui/platform/window_loop.h"

namespace hbmscope::gui {

Result<int> run_window(const WindowRequest& request) {
  const bool screenshot = !request.screenshot.empty();
  auto session = Session::open({.surface = screenshot ? Surface::offscreen : Surface::display,
                                .width = request.width,
                                .height = request.height,
                                .scale = request.scale,
                                .remember_layout = !screenshot,
                                .lists_jobs = !screenshot,
                                .leaves_no_trace = screenshot});
  if (!session) return Failure(session.error());
  (*session)->app().set_live_memory_max(request.live_memory_max);
  push_initial_commands((*session)->app().commands(), request);
  if (screenshot) return write_screenshot(**session, request.screenshot);
  WindowLoop loop(**session);
  while (!(*session)->close_wanted()) loop.run_once();
  (*session)->app().save_settings();
  return 0;
}

}  // namespace hbmscope::gui
