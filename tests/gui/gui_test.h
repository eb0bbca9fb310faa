// The real App and shell on the Null platform, and a hand that moves the pointer and types (the ImGui Test Engine). No
// display is needed; if OpenGL can't start without one, the test is skipped with the reason.
//
// Each test has its own folders for settings, state and files, so nothing of the user who runs it is touched.
#pragma once

#include <gtest/gtest.h>
#include <imgui.h>
#include <imgui_te_context.h>
#include <imgui_te_engine.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/gui/platform/session.h"

namespace hbmscope::test {

class GuiTest : public ::testing::Test {
 protected:
  GuiTest();
  ~GuiTest() override;
  void SetUp() override;
  void TearDown() override;

  // Runs `act` in place of the user; frames are drawn whenever it waits or does something.
  void run(const std::function<void(ImGuiTestContext&)>& act);

  // Draws frames until `happened`, for at most 20 s of real time. Call it within run().
  bool wait_until(ImGuiTestContext& hand, const std::function<bool()>& happened);
  // Until nothing is being read or computed. Call it within run().
  bool wait_until_idle(ImGuiTestContext& hand);

  // Opens files as the command line does, and waits until they are read.
  void open(ImGuiTestContext& hand, const std::vector<std::string>& files);

  // Writes screenshots/NAME.png into the build tree: the settled window, without a pointer over it. Call it outside
  // run().
  void take_picture(const std::string& name);
  // The same within run(), in the current state: with the tooltip under the pointer.
  void take_picture_now(ImGuiTestContext& hand, const std::string& name);

  // The settled window. Call it outside run().
  gui::Picture settled_picture();
  gui::Session& session() { return *session_; }

  const gui::AppState& state() const { return session_->app().state(); }
  gui::CommandQueue& commands() { return session_->app().commands(); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  void draw_frame();
  void write_picture(const gui::Picture& picture, const std::string& name);

  std::filesystem::path folder_;
  std::unique_ptr<gui::Session> session_;
  ImGuiTestEngine* engine_ = nullptr;
  std::string picture_wanted_;  // For the frame that is drawn next.
};

}  // namespace hbmscope::test
