// Lets worker threads wake the loop. With a display GLFW can interrupt its own waiting. The Null platform can't wait,
// so there the loop waits here.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "app/gui/platform/gl_window.h"

namespace hbmscope::gui {

class WakeSignal {
 public:
  explicit WakeSignal(Surface surface) : surface_(surface) {}

  void wake();                                          // From any thread while the GlWindow exists.
  void wait(std::chrono::steady_clock::duration time);  // Offscreen only.

 private:
  Surface surface_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool awake_ = false;
};

}  // namespace hbmscope::gui
