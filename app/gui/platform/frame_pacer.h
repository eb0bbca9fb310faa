// When the next frame is due. A window in which nothing happens draws nothing: it sleeps until an event comes.
//
// A change (input, a finished answer, a new size) is drawn at once, and twice more, because a layout takes a frame or
// two to settle. After it frames go on for a while at a low rate, so that tooltips that wait for the pointer to rest
// do appear. While a key or button is held, it may repeat; while something is being read, its progress moves, but never
// for more than a fifth of the time: where the processor draws (no graphics card, a remote desktop), each frame of
// progress is taken from the work that it shows.
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
  static constexpr std::chrono::milliseconds busy_period{100};
  static constexpr int busy_frames_apart = 5;  // In lengths of a frame.

  void note_change(Clock::time_point now);
  void note_frame(Clock::time_point begun, Clock::time_point ended);

  // How long to wait for events before the next frame. Zero: draw now. Nothing: until an event comes, however long.
  std::optional<Clock::duration> pause(Clock::time_point now, bool busy, bool held) const;

 private:
  int owed_ = frames_after_change;  // A new window is a change.
  std::optional<Clock::time_point> last_change_;
  Clock::time_point last_frame_;
  Clock::duration frame_time_{};
};

}  // namespace hbmscope::gui
