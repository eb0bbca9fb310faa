#include "tests/gui/gui_test.h"

#include <imgui_internal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "app/gui/platform/screenshot.h"

namespace hbmscope::test {

GuiTest::GuiTest() {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  folder_ = std::filesystem::temp_directory_path() / ("hbmscope-" + name + "-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder_);
}

GuiTest::~GuiTest() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void GuiTest::SetUp() {
  ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
  ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
  auto session = gui::Session::open({.surface = gui::Surface::offscreen, .remember_layout = false});
  if (!session) GTEST_SKIP() << session.error().text();
  session_ = std::move(*session);

  engine_ = ImGuiTestEngine_CreateContext();
  ImGuiTestEngineIO& io = ImGuiTestEngine_GetIO(engine_);
  io.ConfigRunSpeed = ImGuiTestRunSpeed_Fast;
  io.ConfigSavedSettings = false;
  io.ConfigMouseDrawCursor = false;
  io.ConfigVerboseLevel = ImGuiTestVerboseLevel_Warning;
  io.ConfigVerboseLevelOnError = ImGuiTestVerboseLevel_Debug;
  io.ConfigLogToTTY = true;
  io.ConfigWatchdogWarning = 60.0F;
  io.ConfigWatchdogKillTest = 120.0F;
  ImGuiTestEngine_Start(engine_, ImGui::GetCurrentContext());
}

void GuiTest::TearDown() {
  if (session_ != nullptr && !HasFailure()) {
    // Each frame draws only what changed. The accumulated result must equal one full frame. Sources still being
    // read show a message after a while (views/answer_state.cpp): wait for it, so that both pictures show it.
    constexpr auto said_after = std::chrono::milliseconds(400);
    for (const gui::Source& source : session_->app().state().sources)
      if (source.state == gui::AnswerState::pending) std::this_thread::sleep_until(source.started + said_after);
    const gui::Picture picture = settled_picture();
    session_->draw_all_anew();
    session_->draw();
    const gui::Picture anew = session_->picture();
    EXPECT_TRUE(picture.rgb == anew.rgb) << "parts were not drawn that have changed";
  }
  if (engine_ != nullptr) ImGuiTestEngine_Stop(engine_);
  session_.reset();  // The engine must outlive the context that it is hooked into.
  if (engine_ != nullptr) ImGuiTestEngine_DestroyContext(engine_);
}

void GuiTest::draw_frame() {
  session_->update();
  session_->draw();
  // ImGui tolerates a view's mistake (a Begin without its End, a cursor beyond the window); we don't.
  EXPECT_EQ(ImGui::GetCurrentContext()->ErrorCountCurrentFrame, 0) << "the test engine says above what ImGui found";
  if (!picture_wanted_.empty()) write_picture(session_->picture(), std::exchange(picture_wanted_, {}));
  ImGuiTestEngine_PostSwap(engine_);
}

void GuiTest::run(const std::function<void(ImGuiTestContext&)>& act) {
  ImGuiTest* test = ImGuiTestEngine_RegisterTest(engine_, "hbmscope", "act", __FILE__, __LINE__);
  test->TestFunc = [&act](ImGuiTestContext* hand) { act(*hand); };
  ImGuiTestEngine_QueueTest(engine_, test);
  while (!ImGuiTestEngine_IsTestQueueEmpty(engine_)) draw_frame();
  EXPECT_EQ(test->Output.Status, ImGuiTestStatus_Success) << "see the test engine's log above";
  ImGuiTestEngine_UnregisterTest(engine_, test);
}

bool GuiTest::wait_until(ImGuiTestContext& hand, const std::function<bool()>& happened) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!happened()) {
    if (std::chrono::steady_clock::now() > end || hand.IsError()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // Leave the cores to the workers.
    hand.Yield();
  }
  return true;
}

bool GuiTest::wait_until_idle(ImGuiTestContext& hand) {
  hand.Yield(3);  // A view asks its queries in the frame after a command.
  return wait_until(hand, [this] { return !session_->app().busy(); });
}

void GuiTest::open(ImGuiTestContext& hand, const std::vector<std::string>& files) {
  commands().push(gui::command::open_paths, files);
  ASSERT_TRUE(wait_until_idle(hand));
}

void GuiTest::take_picture(const std::string& name) {
  write_picture(settled_picture(), name);
}

gui::Picture GuiTest::settled_picture() {
  return gui::draw_settled(*session_);
}

void GuiTest::take_picture_now(ImGuiTestContext& hand, const std::string& name) {
  picture_wanted_ = name;
  while (!picture_wanted_.empty() && !hand.IsError()) hand.Yield();
}

void GuiTest::write_picture(const gui::Picture& picture, const std::string& name) {
  const std::filesystem::path folder = HBMSCOPE_SCREENSHOT_FOLDER;
  std::filesystem::create_directories(folder);
  const auto written = gui::write_png(picture, (folder / (name + ".png")).string());
  ASSERT_TRUE(written) << written.error().text();
}

}  // namespace hbmscope::test
