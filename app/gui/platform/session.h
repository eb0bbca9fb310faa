// One window with everything in it: the surface, Dear ImGui, the App and the shell that draws it. The window's loop, a
// picture without a display, and the tests all drive this, frame by frame:
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
  double scale = 0;              // 0: the display's.
  bool remember_layout = true;   // Read the docks' places from the state folder, and write them there in the end.
  bool lists_jobs = false;       // Of this machine, on the first page.
  bool leaves_no_trace = false;  // Write neither settings nor recent files: a picture changes nothing.
};

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const SessionOptions& options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  App& app();

  // Until an event came, a worker called, or the time is over; nothing: however long it takes.
  void wait(std::optional<std::chrono::steady_clock::duration> time);
  // Applies commands and finished work. Returns true when there is something new to draw: that, input, or a new size.
  bool update();
  void draw();  // What has changed since the last frame.
  // For tests: how many pixels the last draw() has drawn, and that the next one draws all of them.
  std::uint64_t drawn_pixels() const;
  void draw_all_anew();

  bool input_held() const;  // A key or a mouse button is down.
  bool close_wanted() const;

  // What the last draw() showed; offscreen only.
  Picture picture() const;

 private:
  class Impl;
  explicit Session(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hbmscope::gui
