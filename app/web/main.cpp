// The page's program: the window on the page's canvas. page.html puts files into the page's file system and names them
// here; the browser asks for frames.
#include <emscripten.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/session.h"
#include "app/gui/platform/window.h"
#include "app/gui/platform/window_loop.h"

namespace {

using hbmscope::gui::Session;
using hbmscope::gui::WindowLoop;
using hbmscope::gui::WindowRequest;

struct Page {
  std::unique_ptr<Session> session;
  std::unique_ptr<WindowLoop> loop;
};
Page page;

// The options of `hbmscope open` that a link can have, by their names.
constexpr std::array<std::pair<std::string_view, std::string WindowRequest::*>, 12> link_options{{
    {"at", &WindowRequest::at},
    {"from", &WindowRequest::from},
    {"pin", &WindowRequest::pin},
    {"heap", &WindowRequest::heap},
    {"view", &WindowRequest::view},
    {"select", &WindowRequest::select},
    {"find", &WindowRequest::find},
    {"where", &WindowRequest::where},
    {"color", &WindowRequest::color},
    {"rows", &WindowRequest::rows},
    {"addresses", &WindowRequest::addresses},
    {"theme", &WindowRequest::theme},
}};

// Lines: "at=oom", "select=0x7f3a14000000".
WindowRequest request_from(std::string_view state) {
  WindowRequest request;
  while (!state.empty()) {
    const std::string_view part = state.substr(0, state.find('\n'));
    state.remove_prefix(std::min(state.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    if (equals == part.npos) continue;
    for (const auto& [name, field] : link_options)
      if (part.substr(0, equals) == name) request.*field = part.substr(equals + 1);
  }
  return request;
}

}  // namespace

// Opens a file of the page's file system. `state`: lines such as "at=oom", the options of `hbmscope open`.
extern "C" EMSCRIPTEN_KEEPALIVE void hbmscope_open(const char* path, const char* state) {
  WindowRequest request = request_from(state);
  request.files = {path};
  push_initial_commands(page.session->app().commands(), request);
}

int main() {
  auto session = Session::open({.surface = hbmscope::gui::Surface::display, .remember_layout = false});
  if (!session) {
    std::fprintf(stderr, "hbmscope: %s\n", session.error().text().c_str());
    return 1;
  }
  page.session = std::move(*session);
  page.loop = std::make_unique<WindowLoop>(*page.session);
  emscripten_set_main_loop([] { page.loop->run_once(std::chrono::steady_clock::duration::zero()); }, 0, true);
  return 0;
}
