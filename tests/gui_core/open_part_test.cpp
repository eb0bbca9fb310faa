// A long recording while it is being read: the part read so far is shown, grows, and can be kept or cancelled.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "analysis/read/file_bytes.h"
#include "analysis/read/recording/read_recording.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t blocks = 1'500'000, live_most = 1000;

class OpenPart : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    test::SmallTrace trace;
    trace.region(0, std::uint64_t{1} << 30);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      if (i >= live_most) trace.free((i - live_most) % (2 * live_most) * 512);
      trace.alloc(i % (2 * live_most) * 512, 512);
    }
    // Each test may be a separate process that runs concurrently with others.
    file() = (std::filesystem::path(testing::TempDir()) / ("hbmscope-open-part-" + std::to_string(getpid()) + ".hbm"))
                 .string();
    trace.write(file());
  }
  static void TearDownTestSuite() { std::filesystem::remove(file()); }
  static std::string& file() {
    static std::string path;
    return path;
  }

  // Until `happened`, or all is read.
  static void run_until(App& app, const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      app.commands().ask(Question::heap_map);
      app.commands().ask(Question::timeline);
      app.update();
      if (happened()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } while (app.busy() && std::chrono::steady_clock::now() < give_up);
  }
  static void open(App& app) { app.commands().push(Command(command::open_paths, {file()})); }

  test::TestHome home_;
};

TEST_F(OpenPart, a_part_is_the_beginning_of_the_whole_and_at_most_a_quarter) {
  const auto bytes = read_file(file(), std::uint64_t{1} << 32, nullptr);
  ASSERT_TRUE(bytes);
  std::vector<std::shared_ptr<const Trace>> parts;
  ReadControl control;
  control.take_part = [&](std::shared_ptr<const Trace> part) { parts.push_back(std::move(part)); };
  const auto whole = read_recording(bytes->bytes(), "whole", std::uint64_t{4} << 30, &control);
  ASSERT_TRUE(whole);
  ASSERT_EQ(1U, parts.size()) << "at a quarter of a million events; a million would be most of them";
  EXPECT_GE(parts[0]->streams[0].end_position(), first_part_events);
  for (const auto& part : parts) {
    const std::uint64_t end = part->streams[0].end_position();
    const StreamState ours = part->streams[0].state_at(end), theirs = whole->streams[0].state_at(end);
    EXPECT_EQ(theirs.in_use_bytes(1), ours.in_use_bytes(1));
    EXPECT_EQ(theirs.heap(1).space.largest_free(), ours.heap(1).space.largest_free());
    EXPECT_EQ(theirs.heap(1).live_blocks, ours.heap(1).live_blocks);
  }
}

TEST_F(OpenPart, reading_can_be_stopped_where_it_is_or_cancelled) {
  const auto bytes = read_file(file(), std::uint64_t{1} << 32, nullptr);
  ASSERT_TRUE(bytes);
  ReadControl stopped;
  stopped.take_part = [&](const std::shared_ptr<const Trace>&) { stopped.stop_here = true; };
  const auto part = read_recording(bytes->bytes(), "part", std::uint64_t{4} << 30, &stopped);
  ASSERT_TRUE(part);
  EXPECT_GE(part->streams[0].end_position(), first_part_events);
  EXPECT_LT(part->streams[0].end_position(), 2 * first_part_events);
  const auto& rows = part->import.rows();
  const auto has = [&](std::string_view name) {
    return std::any_of(rows.begin(), rows.end(), [&](const ImportStatistic& row) { return row.name == name; });
  };
  EXPECT_TRUE(has("stopped_here"));
  EXPECT_FALSE(has("not_finished")) << "its writer is not to blame";
  EXPECT_FALSE(has("lost_bytes"));
  ReadControl cancelled;
  cancelled.take_part = [&](const std::shared_ptr<const Trace>&) { cancelled.cancelled = true; };
  EXPECT_FALSE(read_recording(bytes->bytes(), "none", std::uint64_t{4} << 30, &cancelled));
}

TEST_F(OpenPart, window_shows_the_part_then_all_at_its_peak) {
  App app([] {});
  open(app);
  const auto is_shown = [&] { return app.state().source() != nullptr && app.state().source()->is_part(); };
  run_until(app, is_shown);
  ASSERT_TRUE(is_shown()) << "a part is there before all is read";
  const auto part = app.state().source()->trace;
  EXPECT_EQ(ViewKind::heap_map, app.state().position().view);
  run_until(app, [] { return false; });
  ASSERT_EQ(1U, app.state().sources.size());
  const Source& source = *app.state().source();
  EXPECT_FALSE(source.is_part());
  EXPECT_GT(source.trace->streams[0].end_position(), part->streams[0].end_position());
  EXPECT_EQ(2 * blocks - live_most + 1, source.trace->streams[0].end_position());
  EXPECT_EQ(source.trace, app.state().answers().heap_map.value->moment->trace);
  EXPECT_EQ("peak", app.state().position().at);
}

TEST_F(OpenPart, stop_here_keeps_what_was_read_and_cancel_nothing) {
  for (const bool cancels : {false, true}) {
    App app([] {});
    open(app);
    run_until(app, [&] { return app.state().source() != nullptr && app.state().source()->is_part(); });
    ASSERT_TRUE(app.state().source()->is_part());
    app.commands().push(cancels ? command::cancel_loading : command::stop_reading, app.state().source()->id);
    run_until(app, [] { return false; });
    if (cancels) {
      EXPECT_TRUE(app.state().sources.empty());
      continue;
    }
    ASSERT_EQ(1U, app.state().sources.size());
    const Source& source = *app.state().source();
    EXPECT_EQ(AnswerState::ready, source.state);
    EXPECT_FALSE(source.is_part());
    EXPECT_LT(source.trace->streams[0].end_position(), 2 * blocks - live_most + 1);
  }
}

}  // namespace
}  // namespace hbmscope::gui
