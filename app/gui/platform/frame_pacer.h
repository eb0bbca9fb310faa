// Decides when the next frame is due. An idle window draws nothing; it sleeps until an event arrives.
//
// A change (input, a finished answer, a new size) is drawn at once, and then twice more because a layout takes a frame
// or two to settle. Frames then continue at a low rate for a while, so that tooltips with a delay appear. While a key
// or button is held it may repeat, and while something is being read its progress moves. Progress frames take at most a
// tenth of the time, and those after a change a fifth as long as something is read: with a software renderer (no
// graphics card, a remote desktop) they take processor time from the reading itself.
#pragma once

#include <chrono>
#include <optional>

namespace hbmscope::gui {

class FramePacer {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr int frames_after_change = 3;
  static constexpr std::chrono::milliseconds afterglow{700};  // Longer than the longest delay of a tooltip.
  static constexpr std::chrono::milliseconds afterglow_period{50};
  static constexpr std::chrono::milliseconds held_period{16};
  static constexpr std::chrono::milliseconds renewal_period{100};
  static constexpr std::chrono::milliseconds busy_period{250};
  // As a multiple of the duration of a frame.
  static constexpr int renewal_frames_apart = 5;
  static constexpr int busy_frames_apart = 10;

  void note_change(Clock::time_point now);
  // Something changed by itself, as a running job does all the time: at most ten pictures a second, and at most a fifth
  // of the time.
  void note_renewal() { has_renewal_ = true; }
  void note_frame(Clock::time_point begun, Clock::time_point ended);

  // The time to wait for events before the next frame. Zero: draw now. Nothing means that it waits for an event without
  // a limit.
  std::optional<Clock::duration> pause(Clock::time_point now, bool busy, bool held) const;

 private:
  int owed_ = frames_after_change;  // A new window counts as a change.
  bool has_renewal_ = false;
  std::optional<Clock::time_point> last_change_;
  Clock::time_point last_frame_;
  Clock::duration frame_time_{};
};

}  // namespace hbmscope::gui
