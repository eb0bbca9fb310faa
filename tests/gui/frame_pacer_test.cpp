#include "app/gui/platform/frame_pacer.h"

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

using std::chrono::milliseconds;
constexpr FramePacer::Clock::time_point start{std::chrono::hours(1)};

// A pacer that has drawn its first frames.
FramePacer make_rested() {
  FramePacer pacer;
  for (int i = 0; i < FramePacer::frames_after_change; ++i) pacer.note_frame(start, start);
  return pacer;
}

TEST(FramePacer, new_window_is_drawn_at_once) {
  EXPECT_EQ(FramePacer().pause(start, false, false), FramePacer::Clock::duration::zero());
}

TEST(FramePacer, nothing_is_drawn_when_nothing_changes) {
  EXPECT_EQ(make_rested().pause(start + std::chrono::hours(5), false, false), std::nullopt);
}

TEST(FramePacer, change_is_drawn_at_once_then_slower_then_never) {
  FramePacer pacer = make_rested();
  auto now = start + milliseconds(5000);
  pacer.note_change(now);
  int at_once = 0, later = 0;
  for (auto pause = pacer.pause(now, false, false); pause; pause = pacer.pause(now, false, false)) {
    ++(*pause == milliseconds(0) ? at_once : later);
    now += *pause;
    pacer.note_frame(now, now);
    ASSERT_LT(at_once + later, 100);
  }
  EXPECT_EQ(at_once, FramePacer::frames_after_change);
  EXPECT_EQ(later, FramePacer::afterglow / FramePacer::afterglow_period);
}

TEST(FramePacer, progress_moves_while_something_is_read) {
  const FramePacer pacer = make_rested();
  EXPECT_EQ(pacer.pause(start + milliseconds(30), true, false), FramePacer::busy_period - milliseconds(30));
}

TEST(FramePacer, progress_takes_a_tenth_of_the_time_at_most) {
  FramePacer pacer = make_rested();
  pacer.note_frame(start, start + milliseconds(60));
  EXPECT_EQ(pacer.pause(start + milliseconds(60), true, false), milliseconds(540));
}

TEST(FramePacer, a_running_job_is_drawn_once_each_time_and_ten_times_a_second_at_most) {
  FramePacer pacer = make_rested();
  pacer.note_renewal();
  EXPECT_EQ(pacer.pause(start + milliseconds(30), false, false), FramePacer::renewal_period - milliseconds(30));
  pacer.note_frame(start + milliseconds(100), start + milliseconds(110));
  EXPECT_EQ(pacer.pause(start + milliseconds(110), false, false), std::nullopt) << "until it changes again";
}

TEST(FramePacer, held_key_repeats_even_long_after_it_went_down) {
  const FramePacer pacer = make_rested();
  EXPECT_EQ(pacer.pause(start + milliseconds(4), false, true), FramePacer::held_period - milliseconds(4));
}

TEST(FramePacer, overdue_frame_is_drawn_at_once) {
  const FramePacer pacer = make_rested();
  EXPECT_EQ(pacer.pause(start + std::chrono::hours(1), true, false), FramePacer::Clock::duration::zero());
}

}  // namespace
}  // namespace hbmscope::gui
