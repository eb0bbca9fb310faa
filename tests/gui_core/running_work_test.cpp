// Long work for the views: it can be stopped, resumed and superseded, and earlier results stay.
#include "app/gui/core/running_work.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/app.h"
#include "tests/gui_core/small_trace.h"
#include "tests/gui_core/test_home.h"

namespace hbmscope::gui {
namespace {

// A trace of some hundred thousand events, so that its addresses over time take far longer than a command.
class RunningWorkTest : public testing::Test {
 protected:
  RunningWorkTest() {
    app_ = std::make_unique<App>([] {});
    test::SmallTrace trace;
    trace.region(0, std::uint64_t{1} << 30);
    for (std::uint64_t i = 0; i < 150'000; ++i) {
      if (i >= 1000) trace.free((i - 1000) % 2000 * 512);
      trace.alloc(i % 2000 * 512, 512, "step");
    }
    trace.write((home_ / "long.hbm").string());
    give(Command(command::open_paths, {(home_ / "long.hbm").string()}));
    settle();
  }

  template <class... Args>
  void give(Args&&... args) {
    app_->commands().push(std::forward<Args>(args)...);
    app_->commands().ask(Question::address_time);
    app_->update();
  }
  void settle() {
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      app_->update();
    } while (app_->busy() && std::chrono::steady_clock::now() < give_up);
    ASSERT_FALSE(app_->busy());
  }
  const Answer<AddressTime>& boxes() const { return app_->state().answers().address_time; }

  test::TestHome home_;
  std::unique_ptr<App> app_;
};

TEST_F(RunningWorkTest, is_named_stopped_and_gone_on_with) {
  give(command::size_address_time, PixelSize{400, 200});
  ASSERT_TRUE(boxes().pending());
  const auto running = running_work(app_->state().contexts);
  ASSERT_EQ(1U, running.size());
  EXPECT_EQ("addresses over time", running[0].what);
  give(CommandId::stop_work);
  settle();
  EXPECT_TRUE(boxes().is_stopped);
  EXPECT_TRUE(boxes().failed());
  EXPECT_TRUE(has_stopped_work(app_->state().contexts));
  EXPECT_TRUE(running_work(app_->state().contexts).empty());
  give(CommandId::go_on_working);
  settle();
  EXPECT_EQ(AnswerState::ready, boxes().state);
  EXPECT_FALSE(has_stopped_work(app_->state().contexts));
}

TEST_F(RunningWorkTest, stopped_leaves_what_was_there) {
  give(command::size_address_time, PixelSize{400, 200});
  settle();
  const auto before = boxes().value;
  ASSERT_NE(nullptr, before);
  give(command::size_address_time, PixelSize{500, 200});
  give(CommandId::stop_work);
  settle();
  EXPECT_TRUE(boxes().is_stopped);
  EXPECT_EQ(before, boxes().value);
}

TEST_F(RunningWorkTest, a_question_repeated_before_its_answer_is_not_cancelled) {
  give(command::size_address_time, PixelSize{400, 200});
  give(command::size_address_time, PixelSize{500, 200});
  give(command::size_address_time, PixelSize{400, 200});
  settle();
  ASSERT_EQ(AnswerState::ready, boxes().state) << boxes().error.text();
  EXPECT_EQ(400, boxes().value->query.width);
}

}  // namespace
}  // namespace hbmscope::gui
