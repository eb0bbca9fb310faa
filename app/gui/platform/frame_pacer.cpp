#include "app/gui/platform/frame_pacer.h"

#include <algorithm>

namespace hbmscope::gui {

void FramePacer::note_change(Clock::time_point now) {
  owed_ = frames_after_change;
  last_change_ = now;
}

void FramePacer::note_frame(Clock::time_point begun, Clock::time_point ended) {
  owed_ = std::max(0, owed_ - 1);
  has_renewal_ = false;
  last_frame_ = begun;
  frame_time_ = ended - begun;
}

std::optional<FramePacer::Clock::duration> FramePacer::pause(Clock::time_point now, bool busy, bool held) const {
  if (owed_ > 0) return Clock::duration::zero();
  std::optional<Clock::duration> period;
  if (busy) period = std::max<Clock::duration>(busy_period, busy_frames_apart * frame_time_);
  if (has_renewal_) period = std::max<Clock::duration>(renewal_period, renewal_frames_apart * frame_time_);
  if (last_change_ && now - *last_change_ < afterglow)
    period = std::max<Clock::duration>(afterglow_period, busy ? renewal_frames_apart * frame_time_ : Clock::duration());
  if (held) period = held_period;
  if (!period) return std::nullopt;
  return std::max(Clock::duration::zero(), last_frame_ + *period - now);
}

}  // namespace hbmscope::gui
