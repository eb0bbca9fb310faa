// What a person moved stays where it is: for each kind of file, and when the window is started again.
#include <GLFW/glfw3.h>
#include <imgui_internal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include <fmt/format.h>

#include "app/gui/platform/screenshot.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;

void write_small_trace(const std::string& file) {
  SmallTrace trace;
  trace.region(0x10000000, 640 * mib);
  for (std::uint64_t i = 0; i < 10; ++i) trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, "forward");
  trace.write(file);
}

ImGuiDockNode* place_of(const char* view) {
  const ImGuiWindow* window = ImGui::FindWindowByName(view);
  return window != nullptr ? window->DockNode : nullptr;
}
bool are_together(const char* view, const char* other) {
  return place_of(view) != nullptr && place_of(view) == place_of(other);
}
float share_of_width(const char* view) {
  return place_of(view)->Size.x / ImGui::GetMainViewport()->Size.x;
}

class Layout : public GuiTest {
 protected:
  void show_trace(ImGuiTestContext& hand) {
    write_small_trace(path("small.hbm"));
    open(hand, {path("small.hbm")});
    hand.Yield(8);
  }
  void show(ImGuiTestContext& hand, std::size_t source) {
    commands().push(gui::command::show_source_file, state().sources[source].id);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(8);
  }
};

TEST_F(Layout, a_moved_view_stays_for_its_kind_of_file_until_its_layout_is_reset) {
  run([&](ImGuiTestContext& hand) {
    show_trace(hand);
    ASSERT_FALSE(are_together("Top", "Heap map"));
    hand.DockInto("Top", "Heap map");
    hand.Yield(3);
    ASSERT_TRUE(are_together("Top", "Heap map"));
    commands().push(CommandId::open_sample);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(8);
    ASSERT_TRUE(are_together("Top", "Call tree")) << "a profile has its own layout";
    hand.DockInto("Top", "Summary");
    hand.Yield(3);
    show(hand, 0);
    EXPECT_TRUE(are_together("Top", "Heap map"));
    EXPECT_TRUE(are_together("Blocks", "Call tree")) << "what was not moved is where it was";
    show(hand, 1);
    EXPECT_TRUE(are_together("Top", "Summary"));
    commands().push(CommandId::reset_layout);
    hand.Yield(8);
    EXPECT_TRUE(are_together("Top", "Call tree"));
    show(hand, 0);
    EXPECT_TRUE(are_together("Top", "Heap map")) << "only the kind in front was reset";
    take_picture_now(hand, "layout_moved");
    commands().push(CommandId::reset_layout);
    hand.Yield(8);
    EXPECT_FALSE(are_together("Top", "Heap map"));
    EXPECT_TRUE(are_together("Top", "Call tree"));
  });
}

TEST_F(Layout, large_text_and_back_lay_the_views_out_anew) {
  run([&](ImGuiTestContext& hand) {
    show_trace(hand);
    ASSERT_FALSE(are_together("Timeline", "Heap map"));
    const ImVec2 small = place_of("Heap map")->Size;
    commands().push(gui::command::set_text_scale, 2.0);
    hand.Yield(8);
    EXPECT_TRUE(are_together("Timeline", "Heap map")) << "there is no room for both";
    EXPECT_GT(place_of("Heap map")->Size.y, ImGui::GetTextLineHeight() * 8);
    take_picture_now(hand, "layout_large_text");
    hand.DockInto("Top", "Heap map");
    hand.Yield(3);
    commands().push(gui::command::set_text_scale, 1.0);
    hand.Yield(8);
    EXPECT_FALSE(are_together("Timeline", "Heap map"));
    EXPECT_FALSE(are_together("Top", "Heap map")) << "moved in the other layout only";
    EXPECT_NEAR(small.y, place_of("Heap map")->Size.y, 2);
  });
}

TEST_F(Layout, a_window_that_becomes_smaller_is_laid_out_as_one_that_starts_so) {
  run([&](ImGuiTestContext& hand) {
    show_trace(hand);
    const ImVec2 large = place_of("Heap map")->Size;
    const auto resize = [&](int width, int height) {
      glfwSetWindowSize(static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle), width, height);
      hand.Yield(8);
    };
    resize(1280, 690);
    EXPECT_TRUE(are_together("Timeline", "Heap map"));
    EXPECT_GT(place_of("Heap map")->Size.y, 200);
    for (const auto& [width, height] : {std::pair{1280, 500}, {700, 400}, {420, 500}, {200, 150}}) {
      resize(width, height);
      EXPECT_GT(place_of("Heap map")->Size.y, 0) << width << " x " << height;
    }
    resize(1600, 1000);
    EXPECT_FALSE(are_together("Timeline", "Heap map"));
    EXPECT_NEAR(large.y, place_of("Heap map")->Size.y, 2);
  });
}

// What is left when a window becomes smaller is shared: no view takes what another one had.
TEST_F(Layout, no_view_is_the_one_that_loses_its_room) {
  run([&](ImGuiTestContext& hand) {
    show_trace(hand);
    for (const char* view : {"Sources", "Timeline", "Heap map", "Top"}) {
      ASSERT_NE(nullptr, place_of(view)) << view;
      EXPECT_FALSE(place_of(view)->IsCentralNode()) << view;
      EXPECT_FALSE(place_of(view)->HasCentralNodeChild) << view;
    }
  });
}

class LayoutOfStarts : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    write_small_trace(path());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path() const { return (folder_ / "small.hbm").string(); }
  std::unique_ptr<gui::Session> start() {
    auto session = gui::Session::open({.surface = gui::Surface::offscreen});
    return session ? std::move(*session) : nullptr;
  }
  static void settle(gui::Session& session) {
    gui::draw_settled(session);
    for (int frame = 0; frame < 8; ++frame) {
      session.update();
      session.draw();
    }
  }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("hbmscope-layout-" + std::to_string(::getpid()));
};

TEST_F(LayoutOfStarts, each_kind_has_its_layout_again_whichever_comes_first) {
  auto session = start();
  if (session == nullptr) GTEST_SKIP() << "OpenGL does not start without a display";
  session->app().commands().push(gui::command::open_paths, {path()});
  settle(*session);
  const float narrow = share_of_width("Sources");
  ImGui::DockContextQueueDock(ImGui::GetCurrentContext(), place_of("Heap map")->HostWindow, place_of("Heap map"),
                              ImGui::FindWindowByName("Top"), ImGuiDir_None, 0, false);
  const ImGuiDockNode& left = *place_of("Sources")->ParentNode;
  ImGui::DockBuilderSetNodeSize(left.ID, {left.Size.x * 1.5F, left.Size.y});
  settle(*session);
  ASSERT_TRUE(are_together("Top", "Heap map"));
  const float wide = share_of_width("Sources");
  ASSERT_GT(wide, narrow * 1.2F);
  session->app().commands().push(CommandId::open_sample);
  settle(*session);
  EXPECT_NEAR(narrow, share_of_width("Sources"), 0.02);
  session.reset();  // Ends with a profile in front.

  session = start();
  session->app().commands().push(gui::command::open_paths, {path()});
  settle(*session);
  EXPECT_TRUE(are_together("Top", "Heap map"));
  EXPECT_NEAR(wide, share_of_width("Sources"), 0.01);
  session->app().commands().push(CommandId::open_sample);
  settle(*session);
  EXPECT_TRUE(are_together("Top", "Call tree"));
  EXPECT_NEAR(narrow, share_of_width("Sources"), 0.02);
  session.reset();
}

// A window that is killed never ends: it is kept while it still runs.
TEST_F(LayoutOfStarts, layout_theme_and_text_size_are_kept_before_the_end) {
  auto session = start();
  if (session == nullptr) GTEST_SKIP() << "OpenGL does not start without a display";
  session->app().commands().push(gui::command::open_paths, {path()});
  settle(*session);
  ImGui::DockContextQueueDock(ImGui::GetCurrentContext(), place_of("Heap map")->HostWindow, place_of("Heap map"),
                              ImGui::FindWindowByName("Top"), ImGuiDir_None, 0, false);
  session->app().commands().push(gui::command::set_theme, gui::Theme::light);
  session->app().commands().push(gui::command::set_text_scale, 0.875);
  settle(*session);
  ASSERT_TRUE(are_together("Top", "Heap map"));
  const std::string top = fmt::format("{:08X}", place_of("Heap map")->ID);
  const auto has_kept = [&] {
    std::ifstream in(gui::state_folder() / "layout.ini");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t at = text.find("[Window][Top]");
    return at != std::string::npos && text.substr(at, 120).find(top) != std::string::npos &&
           gui::read_settings(gui::config_folder() / "settings.json") == session->app().state().settings;
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!has_kept() && std::chrono::steady_clock::now() < end) {
    session->wait(std::chrono::milliseconds(50));
    if (session->update()) session->draw();
  }
  EXPECT_TRUE(has_kept());
  EXPECT_EQ(gui::Theme::light, session->app().state().settings.theme);
}

}  // namespace
}  // namespace hbmscope::test
