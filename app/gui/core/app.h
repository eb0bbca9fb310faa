// Owns the state, applies commands, and computes answers on threads of its own. The platform's loop is:
//
//   app.update();                                    collects what is finished, applies what was pushed
//   draw_shell(app.state(), shell, app.commands());  views read the state, push commands and ask questions
//
// and waits for input or for `wake` whenever update() returned false and the last frame pushed nothing. Work goes on
// while it waits; `wake` is called from worker threads as soon as there is something to collect. While busy() it waits
// 100 ms at most, so that how far reading is can be seen.
#pragma once

#include <functional>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/sources/live_options.h"

namespace hbmscope::gui {

class App {
 public:
  // Reads settings and recent files. `wake` must be callable from any thread until the App is gone. One that
  // `leaves_no_trace` (for a picture) writes neither of them.
  explicit App(std::function<void()> wake, bool leaves_no_trace = false);
  ~App();  // Cancels and waits for what is running.
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const AppState& state() const;
  CommandQueue& commands();

  // Returns true when something changed, so that a frame is worth drawing.
  bool update();

  // Something is being read or computed, or was pushed and not applied yet.
  bool busy() const;

  void save_settings();
  // Before a running job is opened.
  void set_live_options(const LiveOptions& options);
  // While no file is open the jobs of this machine are listed (hbmscope ps); otherwise only on request.
  void list_jobs();

 private:
  struct Parts;
  const bool leaves_no_trace_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hbmscope::gui
