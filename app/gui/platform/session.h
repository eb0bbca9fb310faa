// One window with everything in it: the surface, Dear ImGui, the App and the shell that draws it. The window's loop,
// pictures without a display, and the tests all drive it frame by frame:
//
//   while (...) { session.wait(...); session.update(); session.draw(); }
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "app/gui/core/app.h"
#include "app/gui/platform/gl_window.h"
#include "app/gui/platform/picture.h"

namespace hbmscope::gui {

struct SessionOptions {
  Surface surface = Surface::display;
  int width = 1600, height = 1000;
  double scale = 0;             // 0: the display's scale.
  bool remember_layout = true;  // Read the dock layout from the state folder, and write it at the end.
  bool lists_jobs = false;      // List this machine's jobs on the first page.
  Host host = Host::desktop;
  bool leaves_no_trace = false;  // Write neither settings nor recent files, e.g. for a picture.
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  App& app();

  // Waits until an event arrives, a worker calls, or the time is over. Nothing means no time limit.
  void wait(std::optional<std::chrono::steady_clock::duration> time);
  // Applies commands and finished work. True if there is something new to draw: a result, input or a new size.
  bool update();
  // After an update that changed something: whether only a running job did, or one of several answers that are being
  // computed, without the user.
  bool is_renewal() const;
  void draw();  // Draws the changes since the last frame.
  // For tests: the number of pixels drawn by the last draw(), and a way to make the next one draw all of them.
  std::uint64_t drawn_pixels() const;
  void draw_all_anew();

  bool input_held() const;  // A key or mouse button is held down.
  bool close_wanted() const;

  // What the last draw() showed; offscreen only.
  Picture picture() const;

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hbmscope::gui
