// Owns the state, applies commands and computes answers on its own threads. The platform's loop is:
//
//   app.update();                                    collects finished work, applies pushed commands
//   draw_shell(app.state(), shell, app.commands());  views read the state, push commands and ask questions
//
// It then waits for input or for `wake`, if update() returned false and the last frame pushed nothing. Workers go on
// while it waits, and call `wake` from their threads when there is a result to collect. While busy(), the loop waits at
// most 100 ms, so that the progress of reading is visible.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/sources/live_options.h"

namespace hbmscope::gui {

class App {
 public:
  // Reads settings and recent files. `wake` must be callable from any thread until the App is destroyed. An App that
  // `leaves_no_trace` (used for pictures and pages) writes neither settings nor recent files.
  explicit App(std::function<void()> wake, bool leaves_no_trace = false, Host host = Host::desktop);
  ~App();  // Cancels running work and waits for it.
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  const AppState& state() const;
  CommandQueue& commands();

  // True if something changed and a new frame should be drawn.
  bool update();

  // True while something is being read or computed, or a pushed command is not applied yet.
  bool busy() const;

  // An open file may grow, so update() is to be called once a second.
  bool follows_files() const;

  // Everything that update() keeps by its workers, once more at the end.
  void save_settings();
  // The places of the views, as the toolkit writes them. A worker keeps them for the next start.
  void keep_layout(std::string text);
  void set_about(std::string text);
  // Call it before a running job is opened.
  void set_live_options(const LiveOptions& options);
  // Lists the jobs of this machine (hbmscope ps) while no file is open. Otherwise they are listed only on request.
  void list_jobs();

 private:
  struct Parts;
  const bool leaves_no_trace_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace hbmscope::gui
