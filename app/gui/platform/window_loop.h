// The loop of a window: waits until something happens, applies it, draws when a frame is due. The program, the tests
// and the benchmark all run it, so that their counts match what happens on a user's machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "app/gui/platform/frame_pacer.h"
#include "app/gui/platform/session.h"

namespace hbmscope::gui {

class WindowLoop {
 public:
  explicit WindowLoop(Session& session) : session_(session) {}

  // Waits for the next event or frame, at most `wait_most`, and draws a frame if one is due. True if it drew.
  bool run_once(std::optional<std::chrono::steady_clock::duration> wait_most = {});
  std::uint64_t frames() const { return frames_; }
  FramePacer::Clock::duration last_frame() const { return last_frame_; }  // From waking up to the swap.

 private:
  Session& session_;
  FramePacer pacer_;
  std::uint64_t frames_ = 0;
  FramePacer::Clock::duration last_frame_{};
};

}  // namespace hbmscope::gui
