// Steps of a program: found by their markers, stepped through, and laid over each other.
#include "app/gui/core/trace_steps.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "analysis/query/steps.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

// Five steps; each allocates and frees 8 MiB and keeps one MiB more than the step before it.
void write_steps(const std::string& path) {
  test::SmallTrace trace;
  trace.region(0, 1024 * mib);
  for (std::uint64_t step = 0; step < 5; ++step) {
    trace.mark("train step " + std::to_string(step), 1);
    trace.alloc(512 * mib, 8 * mib, "forward");
    trace.mark("inner step", 0);
    trace.alloc(step * 8 * mib, (step + 1) * mib, "keep");
    trace.free(512 * mib);
    trace.mark("train step " + std::to_string(step), 2);
  }
  trace.write(path);
}

class StepsInWindow : public testing::Test {
 protected:
  StepsInWindow() {
    app_ = std::make_unique<App>([] {});
    const std::string path = (home_ / "steps.hbm").string();
    write_steps(path);
    give(Command(command::open_paths, {path}));
    give(Command(command::size_timeline, {400, 200}));
  }

  void give(Command command) {
    app_->commands().push(std::move(command));
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    do {
      app_->commands().ask(Question::timeline);
      app_->update();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    app_->update();
    ASSERT_FALSE(app_->busy());
  }
  const AppState& state() const { return app_->state(); }
  const TraceSteps& steps() const { return *state().answers().steps.value; }
  std::string current() const {
    const auto step = current_step(state());
    return step ? std::string(steps().steps[*step].name) : "none";
  }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(StepsInWindow, the_outermost_steps_and_what_each_leaves_behind) {
  ASSERT_EQ(5U, steps().steps.size());
  EXPECT_EQ("train step 3", steps().steps[3].name);
  for (std::uint64_t step = 0; step < 4; ++step)
    EXPECT_EQ(static_cast<std::int64_t>((step + 1) * mib), steps().growth_of(step)) << step;
  EXPECT_EQ(std::nullopt, steps().growth_of(4));
}

TEST_F(StepsInWindow, a_pixel_of_many_steps_is_the_one_that_left_most) {
  const auto axis = [&](std::size_t step) { return static_cast<double>(steps().steps[step].at); };
  EXPECT_EQ(1U, steps().find_largest_growth(axis(1), axis(1) + 1));
  EXPECT_EQ(2U, steps().find_largest_growth(axis(0), axis(3)));
  EXPECT_EQ(3U, steps().find_largest_growth(axis(0), axis(4) + 1)) << "the last one has no known end";
  EXPECT_EQ(std::nullopt, steps().find_largest_growth(axis(4), axis(4) + 1));
}

TEST_F(StepsInWindow, a_length_is_a_time_and_the_steps_that_begin_in_it) {
  const TimelineSpan two{steps().steps[1].at, steps().steps[3].at};
  EXPECT_EQ(text_from_moment_ns(two.length()) + ", 2 steps", length_text(true, two, &steps()));
  EXPECT_EQ(text_from_moment_ns(two.length()) + ", 1 step", length_text(true, {two.begin + 1, two.end}, &steps()));
  EXPECT_EQ(text_from_moment_ns(1), length_text(true, {two.begin + 1, two.begin + 2}, &steps()));
  EXPECT_EQ("1 event", length_text(false, {7, 8}));
}

TEST_F(StepsInWindow, a_marker_is_found_by_its_name_as_the_next_of_many) {
  const Trace& trace = *steps().trace;
  const auto found_after = [&](std::uint64_t position) {
    const std::vector<std::uint64_t> positions{position};
    const auto found = find_markers(trace, "INNER", 5, positions, 0);
    EXPECT_EQ(1U, found.size());
    return found.empty() ? NamedMarker() : found[0];
  };
  const auto first = found_after(0);
  EXPECT_EQ("inner step", first.name);
  EXPECT_EQ(5U, first.count);
  EXPECT_EQ(1U, first.number);
  const auto event_of = [&](const NamedMarker& marker) { return trace.streams[0].marks()[marker.index].event; };
  EXPECT_EQ(2U, found_after(event_of(first)).number);
  const auto last = found_after(steps().steps[4].event);
  EXPECT_EQ(5U, last.number);
  EXPECT_EQ(1U, found_after(event_of(last)).number) << "from the beginning again";
  EXPECT_EQ(5U, find_markers(trace, "train", 9, {}, 0).size());
}

TEST_F(StepsInWindow, keys_go_from_step_to_step) {
  give(Command(command::set_moment, "start"));
  EXPECT_EQ("none", current());
  give(CommandId::next_step);
  EXPECT_EQ("train step 0", current());
  give(CommandId::next_step);
  give(CommandId::next_step);
  EXPECT_EQ("train step 2", current());
  give(CommandId::previous_step);
  EXPECT_EQ("train step 1", current());
  give(CommandId::previous_step);
  give(CommandId::previous_step);
  EXPECT_EQ("This is the first step.", state().window.notice);
}

// The line shows at each event of step 3 what was in use at the same event of step 2.
TEST_F(StepsInWindow, the_step_before_lies_over_the_current_one) {
  give(Command(command::set_moment, "start"));
  for (int i = 0; i < 4; ++i) give(CommandId::next_step);
  give(CommandId::overlay_step);
  EXPECT_TRUE(state().position().overlays_step);
  const auto overlay = find_overlay(state());
  ASSERT_TRUE(overlay);
  EXPECT_EQ("the step before (train step 2)", overlay->words);
  const TraceStep &now = steps().steps[3], &before = steps().steps[2];
  EXPECT_EQ(before.at - now.at, overlay->shift);
  EXPECT_EQ(now.at, overlay->shown.begin);
  const TimelineColumns& line = *state().answers().overlay.value;
  const Stream& stream = steps().trace->streams[0];
  // The first three events of a step: its temporaries, what it keeps, the end of the temporaries.
  for (std::uint64_t event = 1; event <= 3; ++event) {
    const std::uint64_t position = before.event + event;
    const std::int64_t at = stream.state_at(position).time_ns() - stream.first_time_ns();
    const double share = line.share_of_axis(static_cast<double>(at));
    const Band& band = line.columns[TimelineColumns::column_of(share, line.columns.size())].in_use;
    EXPECT_EQ(stream.state_at(position).in_use_bytes(1), event == 3 ? band.least : band.most) << event;
  }
  EXPECT_EQ(before.in_use + static_cast<std::int64_t>(11 * mib), static_cast<std::int64_t>(line.in_use_most));
  give(CommandId::next_step);
  EXPECT_EQ("the step before (train step 3)", find_overlay(state())->words);
  EXPECT_LE(state().position().span.begin, steps().steps[4].at);
  EXPECT_GT(state().position().span.end, steps().steps[4].at);
  give(CommandId::overlay_step);
  EXPECT_FALSE(find_overlay(state()));
}

TEST_F(StepsInWindow, the_first_step_has_none_before_it) {
  give(Command(command::set_moment, "start"));
  give(CommandId::next_step);
  give(CommandId::overlay_step);
  EXPECT_FALSE(state().position().overlays_step);
  EXPECT_EQ("This is the first step: there is none before it.", state().window.notice);
}

TEST(Steps, without_markers_there_are_none) {
  test::SmallTrace trace;
  trace.region(0, mib);
  trace.alloc(0, 512);
  trace.mark("step 1");
  EXPECT_TRUE(outermost_steps(trace.trace().streams[0]).begins.empty());
}

}  // namespace
}  // namespace hbmscope::gui
