// The loop of a window: waits until something happens, applies it, draws when a frame is due. The program, the tests
// and the benchmark run the same one, so that what they count is what a person's machine does.
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

  // Waits for what is due next, at most this long, and draws the frame if one is due then. True where it drew.
  bool run_once(std::optional<std::chrono::steady_clock::duration> wait_most = {});
  std::uint64_t frames() const { return frames_; }

 private:
  Session& session_;
  FramePacer pacer_;
  std::uint64_t frames_ = 0;
};

}  // namespace hbmscope::gui
