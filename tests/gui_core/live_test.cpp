// A running job in the window: it grows, is paused and followed, its recording is stopped, and seen data stays.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "app/gui/core/read_so_far.h"
#include "collector/serve/viewer_port.h"
#include "collector/wire/stream_writer.h"
#include "tests/gui_core/test_home.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t block_bytes = 512;

class Live : public testing::Test {
 protected:
  Live() { setenv("XDG_RUNTIME_DIR", home_.path().c_str(), 1); }

  void SetUp() override {
    ASSERT_EQ(recorder_.open(home_ / "r.hbm"), std::nullopt);
    port_.emplace(recorder_);
    ASSERT_EQ(port_->open(), std::nullopt);
  }

  void define_heap() {
    writer_.add_job_fact("command", "/usr/bin/python3 -u /home/me/train.py --steps 7");
    writer_.add_job_fact("process", "4711");
    wire::HeapRecord heap;
    heap.device = 0;
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::is_complete_at_start;
    heap_ = writer_.define_heap(heap, "pool", "device");
    wire::RegionGrowRecord region;
    region.size = 1000 * block_bytes;
    region.heap = heap_;
    writer_.add(region, 0);
  }

  void alloc(int count) {
    for (int i = 0; i < count; ++i) {
      wire::AllocRecord block;
      block.heap = heap_;
      block.size = block_bytes;
      block.address = blocks_++ * block_bytes;
      writer_.alloc(block, static_cast<std::int64_t>(blocks_) * step_ns_);
    }
    writer_.flush();
  }
  // That many megabytes, which take a while to process.
  void add_noise(int megabytes) {
    std::mt19937_64 source(1);
    wire::CounterRecord noise;
    noise.name = writer_.define_string("noise");
    for (int i = 0; i < megabytes * 125'000; ++i) {
      noise.value = static_cast<std::int64_t>(source());
      writer_.add(noise, static_cast<std::int64_t>(blocks_) * 1'000'000 + i);
    }
    writer_.flush();
  }
  void run_until(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!happened() && std::chrono::steady_clock::now() < give_up) {
      for (const Question question : {Question::heap_map, Question::timeline, Question::free_history})
        app_.commands().ask(question);
      app_.update();
      if (port_) {
        port_->serve(status_);
        for (const link::RequestKind request : port_->take_requests())
          if (request == link::RequestKind::stop_recording) recorder_.stop();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_TRUE(happened());
  }
  // By the noise in front of it, minutes may pass until the last event is here.
  void record_a_long_job() {
    writer_.keep_state();
    port_->set_keyframes([this] { return writer_.make_keyframe(); });
    define_heap();
    alloc(10);
    add_noise(40);
    alloc(10);
  }
  void open() {
    const std::string name = "live:" + std::to_string(getpid());
    app_.commands().push(Command(command::open_paths, {name}));
  }
  const Source* source() const { return app_.state().source(); }
  // In the picture that is shown.
  std::uint64_t in_use() const {
    const auto& map = app_.state().answers().heap_map;
    return map.value ? map.value->moment->heap(map.value->heap).in_use_bytes : 0;
  }

  test::TestHome home_;
  serve::Recorder recorder_;
  std::optional<serve::ViewerPort> port_;
  wire::StreamWriter writer_{0, [this](const wire::SharedBlock& block) { recorder_.append(*block); }};
  std::uint32_t heap_ = 0;
  std::int64_t step_ns_ = 1'000'000;  // Between two allocations.
  std::uint64_t blocks_ = 0;
  link::Status status_;
  App app_{[] {}};
};

TEST_F(Live, the_heap_map_follows_is_held_and_follows_again) {
  define_heap();
  alloc(10);
  open();
  run_until([&] { return in_use() == 10 * block_bytes; });
  EXPECT_TRUE(source()->live);
  EXPECT_EQ(source()->name(), "train.py (4711)");
  EXPECT_EQ(app_.state().position().view, ViewKind::heap_map);
  EXPECT_TRUE(app_.state().position().is_at_end());
  alloc(10);
  run_until([&] { return in_use() == 20 * block_bytes; });

  app_.commands().push(CommandId::play);
  run_until([&] { return !app_.state().position().is_at_end(); });
  const TimelineSpan held = app_.state().position().span;
  EXPECT_EQ(whole_span_of(source()->trace->streams[0]), held);
  alloc(10);
  run_until([&] { return source()->trace->streams[0].end_position() == 31; });
  run_until([&] { return app_.state().answers().heap_map.state == AnswerState::ready; });
  EXPECT_EQ(in_use(), 20 * block_bytes) << "held";
  EXPECT_EQ(held, app_.state().position().span) << "the axis does not grow";

  app_.commands().push(CommandId::go_to_end);
  run_until([&] { return in_use() == 30 * block_bytes; });
  EXPECT_TRUE(app_.state().position().span.empty()) << "all of it again";
}

TEST_F(Live, the_timeline_follows_the_last_minute_or_the_span_that_was_chosen) {
  constexpr std::int64_t second = 1'000'000'000;
  step_ns_ = second;
  define_heap();
  open();
  const auto span = [&] { return app_.state().position().span; };
  const auto end = [&] { return whole_span_of(source()->trace->streams[0]).end; };
  const auto grow = [&](int seconds) {
    const std::uint64_t blocks = blocks_ + static_cast<std::uint64_t>(seconds);
    alloc(seconds);
    run_until(
        [&] { return source() != nullptr && source()->trace && end() == static_cast<std::int64_t>(blocks) * second; });
  };
  grow(30);
  EXPECT_TRUE(span().empty()) << "all of it, as long as it is short";
  grow(100);
  EXPECT_EQ((TimelineSpan{70 * second, 130 * second}), span());
  app_.commands().push(command::show_span, {120 * second, 130 * second});
  grow(20);
  EXPECT_EQ((TimelineSpan{140 * second, 150 * second}), span()) << "zoomed in, it follows on";
  app_.commands().push(command::show_span, {10 * second, 40 * second});
  grow(20);
  EXPECT_EQ((TimelineSpan{10 * second, 40 * second}), span()) << "the past stays";
  app_.commands().push(command::show_span, TimelineSpan{});
  grow(20);
  EXPECT_TRUE(span().empty()) << "all of it was chosen";
}

TEST_F(Live, the_recording_ends_and_the_picture_goes_on) {
  define_heap();
  alloc(10);
  open();
  run_until([&] { return in_use() == 10 * block_bytes; });
  EXPECT_EQ(why_not(app_.state(), CommandId::stop_recording), "");
  app_.commands().push(CommandId::stop_recording);
  run_until([&] { return !recorder_.is_recording(); });
  alloc(5);
  run_until([&] { return in_use() == 15 * block_bytes; });
  run_until([&] { return !why_not(app_.state(), CommandId::stop_recording).empty(); });
}

TEST_F(Live, what_was_seen_stays_when_the_job_has_ended) {
  define_heap();
  alloc(10);
  open();
  run_until([&] { return in_use() == 10 * block_bytes; });
  alloc(7);
  status_.flags |= link::status_flag::job_has_ended;
  run_until([&] { return source()->live && source()->live->report.flags != 0; });
  port_->finish(status_, 100);
  port_.reset();
  run_until([&] { return !source()->live; });
  EXPECT_EQ(source()->state, AnswerState::ready);
  EXPECT_FALSE(source()->is_part());
  EXPECT_EQ(app_.state().window.notice, "The job has ended.");
  run_until([&] { return in_use() == 17 * block_bytes; });
}

TEST_F(Live, what_has_not_come_yet_is_skipped) {
  record_a_long_job();
  open();
  run_until(
      [&] { return source() != nullptr && source()->live && why_not(app_.state(), CommandId::skip_to_now).empty(); });
  app_.commands().push(CommandId::skip_to_now);
  run_until([&] { return in_use() == 20 * block_bytes; });
  const Stream& stream = source()->trace->streams[0];
  EXPECT_GT(stream.counts().skipped, 0U);
  EXPECT_EQ(stream.counts().lost, 0U);
  ASSERT_EQ(stream.losses().size(), 1U);
  EXPECT_NE(read_so_far(*source()).words.find(" skipped"), std::string::npos);
  run_until([&] {
    const auto& timeline = app_.state().answers().timeline.value;
    return timeline && std::any_of(timeline->columns.begin(), timeline->columns.end(),
                                   [](const TimelineColumn& column) { return column.is_skipped; });
  });
  run_until([&] { return why_not(app_.state(), CommandId::skip_to_now) == "The picture is up to date."; });
  alloc(5);
  run_until([&] { return in_use() == 25 * block_bytes; });
}

TEST_F(Live, what_happened_before_is_not_fetched_where_only_now_is_wanted) {
  record_a_long_job();
  app_.set_live_options({0, true});
  open();
  run_until([&] { return in_use() == 20 * block_bytes; });
  EXPECT_GT(source()->trace->streams[0].counts().skipped, 1'000'000U);
  alloc(5);
  run_until([&] { return in_use() == 25 * block_bytes; });
}

TEST_F(Live, nobody_answers) {
  app_.commands().push(Command(command::open_paths, {"live:" + (home_ / "none").string()}));
  run_until([&] { return source() != nullptr && source()->state == AnswerState::failed; });
  EXPECT_NE(source()->error.what.find("no running job answers"), std::string::npos);
}

}  // namespace
}  // namespace hbmscope::gui
