#include "app/gui/platform/window.h"

#include <time.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "app/gui/core/coloring.h"
#include "app/gui/core/missing_view.h"
#include "app/gui/core/place_text.h"
#include "app/gui/core/view_row.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/screenshot.h"
#include "app/gui/platform/session.h"
#include "app/gui/platform/window_loop.h"

namespace hbmscope::gui {

namespace {

// A picture of another view than requested is not an error, but the user should not have to find out by looking.
void report_missing_view(const AppState& state, std::string_view requested) {
  const auto kind = parse_view_kind(requested);
  if (!kind) return;
  if (const std::string why = why_no_view(state, *kind); !why.empty())
    std::fprintf(stderr, "hbmscope: the picture does not show the view \"%s\". %s\n", row_of(*kind).title, why.c_str());
}

// What this thread has computed so far. A frame that waited for a processor took longer than it computed.
std::chrono::microseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::microseconds(now.tv_nsec / 1000);
}

// For tests/gui/fuzz_window.py: a line for each frame, with the microseconds that it took and those that it computed.
class FrameLog {
 public:
  FrameLog() {
    if (const char* const path = std::getenv("HBMSCOPE_FRAMES")) out_.open(path, std::ios::app);
  }
  bool is_wanted() const { return out_.is_open(); }
  void note(FramePacer::Clock::duration frame, std::chrono::microseconds computed) {
    out_ << std::chrono::duration_cast<std::chrono::microseconds>(frame).count() << ' ' << computed.count()
         << std::endl;
  }

 private:
  std::ofstream out_;
};

int refuse(const std::string& why) {
  constexpr int wrong_request = 2;  // The exit code of all commands in this case.
  std::fprintf(stderr, "hbmscope: %s\n", why.c_str());
  return wrong_request;
}

}  // namespace

std::string view_names() {
  return view_keys();
}

std::vector<std::string> coloring_names() {
  std::vector<std::string> names;
  for (const Coloring& row : coloring_table()) names.emplace_back(row.key);
  return names;
}

Result<int> run_window(const WindowRequest& request) {
  if (const std::string why = why_no_request(request.view); !why.empty()) return refuse(why);
  if (!request.addresses.empty() && !parse_addresses(request.addresses))
    return refuse("--addresses takes a range such as 0x7f3a14000000-0x7f3a18000000, not '" + request.addresses + "'");
  const bool screenshot = !request.screenshot.empty();
  auto session = Session::open({.surface = screenshot ? Surface::offscreen : Surface::display,
                                .width = request.width,
                                .height = request.height,
                                .scale = request.scale,
                                .remember_layout = !screenshot,
                                .lists_jobs = !screenshot,
                                .leaves_no_trace = screenshot});
  if (!session) return Failure(session.error());
  (*session)->app().set_live_options(request.live);
  (*session)->app().set_about(request.about);
  push_initial_commands((*session)->app().commands(), request);
  if (screenshot) {
    auto written = write_screenshot(**session, request.screenshot);
    if (!written) return written;
    const AppState& state = (*session)->app().state();
    report_missing_view(state, request.view);
    if (const std::string why = why_not_found(state, request.heap); !why.empty()) return refuse(why);
    if (state.sources.empty() && !request.files.empty() && !state.window.notice.empty())
      return refuse(why_nothing_opened(state));
    return written;
  }
  WindowLoop loop(**session);
  FrameLog frames;
  while (!(*session)->close_wanted()) {
    const auto before = frames.is_wanted() ? cpu_time() : std::chrono::microseconds(0);
    if (loop.run_once() && frames.is_wanted()) frames.note(loop.last_frame(), cpu_time() - before);
  }
  return 0;
}

}  // namespace hbmscope::gui
