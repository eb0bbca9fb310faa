#include "app/gui/platform/wake_signal.h"

#include <GLFW/glfw3.h>

namespace hbmscope::gui {

void WakeSignal::wake() {
  if (surface_ == Surface::display) {
    glfwPostEmptyEvent();
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    awake_ = true;
  }
  woken_.notify_one();
}

void WakeSignal::wait(std::chrono::steady_clock::duration time) {
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, time, [this] { return awake_; });
  awake_ = false;
}

}  // namespace hbmscope::gui
