#include "app/gui/platform/window_loop.h"

#include <algorithm>

namespace hbmscope::gui {

bool WindowLoop::run_once(std::optional<std::chrono::steady_clock::duration> wait_most) {
  auto pause = pacer_.pause(FramePacer::Clock::now(), session_.app().busy(), session_.input_held());
  if (wait_most) pause = std::min(pause.value_or(*wait_most), *wait_most);
  session_.wait(pause);
  const auto begun = FramePacer::Clock::now();
  const bool changed = session_.update();
  const auto woken = FramePacer::Clock::now();
  const auto note_change = [this](FramePacer::Clock::time_point now) {
    session_.is_renewal() ? pacer_.note_renewal() : pacer_.note_change(now);
  };
  if (changed) note_change(woken);
  const auto due = pacer_.pause(woken, session_.app().busy(), session_.input_held());
  // Woken by something that does not change the picture.
  if (!due || *due > FramePacer::Clock::duration::zero()) return false;
  session_.draw();
  ++frames_;
  const auto drawn = FramePacer::Clock::now();
  last_frame_ = drawn - begun;
  pacer_.note_frame(woken, drawn);
  if (!session_.app().commands().empty()) note_change(drawn);  // A view pushed something in this frame.
  return true;
}

}  // namespace hbmscope::gui
