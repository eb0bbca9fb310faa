// The code between the shell and the screen: framebuffers, PNG files, the layout's file, and the command line's
// options.
#include <glad/gl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "app/gui/platform/frame_target.h"
#include "app/gui/platform/gl_window.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/window.h"
#include "tests/gui/synthetic_profile.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Width or height out of a PNG's first chunk.
int png_number(const std::string& bytes, std::size_t at) {
  int value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes.at(at + i));
  return value;
}

class Platform : public ::testing::Test {
 protected:
  Platform() : folder(std::filesystem::temp_directory_path() / ("hbmscope-platform-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
    ::setenv("XDG_CONFIG_HOME", (folder / "config").c_str(), 1);
    ::setenv("XDG_STATE_HOME", (folder / "state").c_str(), 1);
  }
  ~Platform() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
};

TEST_F(Platform, framebuffer_is_read_from_the_top) {
  const auto window = GlWindow::open(Surface::offscreen, 64, 64, "test");
  if (!window) GTEST_SKIP() << window.error().text();
  const auto target = FrameTarget::make(4, 3);
  ASSERT_TRUE(target) << target.error().text();
  target->bind();
  glClearColor(0, 0, 1, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  glEnable(GL_SCISSOR_TEST);
  glScissor(0, 2, 4, 1);  // The uppermost row, counted from the bottom.
  glClearColor(1, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  const Picture picture = target->read();
  ASSERT_EQ(picture.rgb.size(), 4U * 3 * 3);
  EXPECT_EQ(std::vector<std::uint8_t>(picture.rgb.begin(), picture.rgb.begin() + 3),
            (std::vector<std::uint8_t>{255, 0, 0}));
  EXPECT_EQ(std::vector<std::uint8_t>(picture.rgb.end() - 3, picture.rgb.end()),
            (std::vector<std::uint8_t>{0, 0, 255}));
}

TEST_F(Platform, impossible_size_is_refused_with_the_limit) {
  const auto window = GlWindow::open(Surface::offscreen, 64, 64, "test");
  if (!window) GTEST_SKIP() << window.error().text();
  const auto target = FrameTarget::make(1 << 24, 10);
  ASSERT_FALSE(target);
  EXPECT_NE(target.error().what.find("16777216 x 10"), std::string::npos);
  EXPECT_NE(target.error().remedy.find("at most"), std::string::npos);
}

TEST_F(Platform, png_has_the_picture_in_its_size) {
  const Picture picture{.width = 3, .height = 2, .rgb = std::vector<std::uint8_t>(18, 200)};
  const auto size = write_png(picture, (folder / "a.png").string());
  ASSERT_TRUE(size) << size.error().text();
  const std::string bytes = read_file(folder / "a.png");
  EXPECT_EQ(bytes.size(), *size);
  EXPECT_EQ(bytes.substr(1, 3), "PNG");
  EXPECT_EQ(png_number(bytes, 16), 3);
  EXPECT_EQ(png_number(bytes, 20), 2);
}

TEST_F(Platform, png_that_cannot_be_written_is_an_error_with_the_reason) {
  const auto size = write_png({.width = 1, .height = 1, .rgb = {0, 0, 0}}, (folder / "no" / "a.png").string());
  ASSERT_FALSE(size);
  EXPECT_NE(size.error().what.find("No such file"), std::string::npos);
  EXPECT_EQ(size.error().file, (folder / "no" / "a.png").string());
}

TEST_F(Platform, folders_and_files_are_opened_differently) {
  CommandQueue commands;
  push_open(commands, {"/not/there.prof", folder.string(), "b.prof"});
  const std::vector<Command> pushed = commands.take_commands();
  ASSERT_EQ(pushed.size(), 2U);
  EXPECT_EQ(pushed[0].id, CommandId::open_folder_path);
  EXPECT_EQ(pushed[0].as<std::string>(), folder.string());
  EXPECT_EQ(pushed[1].id, CommandId::open_paths);
  EXPECT_EQ(pushed[1].as<std::vector<std::string>>(), (std::vector<std::string>{"/not/there.prof", "b.prof"}));
}

TEST_F(Platform, no_display_without_a_window_system) {
  ::unsetenv("DISPLAY");
  ::unsetenv("WAYLAND_DISPLAY");
  ::unsetenv("XDG_RUNTIME_DIR");
  EXPECT_FALSE(has_display());
  const auto closed = run_window({});
  ASSERT_FALSE(closed);
  EXPECT_NE(closed.error().remedy.find("--screenshot"), std::string::npos);
}

TEST_F(Platform, screenshot_has_the_requested_size) {
  test::write_synthetic_profile(folder / "a.pprof", test::training_samples());
  WindowRequest request;
  request.files = {(folder / "a.pprof").string()};
  request.screenshot = (folder / "a.png").string();
  request.width = 801;
  request.height = 603;
  const auto status = run_window(request);
  if (!status && status.error().what.find("without a display") != std::string::npos)
    GTEST_SKIP() << status.error().text();
  ASSERT_TRUE(status) << status.error().text();
  const std::string bytes = read_file(folder / "a.png");
  EXPECT_EQ(png_number(bytes, 16), 801);
  EXPECT_EQ(png_number(bytes, 20), 603);
  EXPECT_FALSE(std::filesystem::exists(folder / "config")) << "a picture must not change the settings";
  EXPECT_FALSE(std::filesystem::exists(folder / "state" / "hbmscope" / "layout.ini")) << "nor the layout";
}

TEST_F(Platform, screenshot_of_a_bad_file_is_written_and_is_an_error) {
  std::ofstream(folder / "bad.pprof") << "not a profile";
  WindowRequest request;
  request.files = {(folder / "bad.pprof").string()};
  request.screenshot = (folder / "bad.png").string();
  const auto status = run_window(request);
  ASSERT_FALSE(status);
  if (status.error().what.find("without a display") != std::string::npos) GTEST_SKIP() << status.error().text();
  EXPECT_EQ(status.error().file, request.files[0]);
  EXPECT_TRUE(std::filesystem::exists(folder / "bad.png"));
}

TEST_F(Platform, a_picture_that_cannot_show_what_was_requested_is_a_wrong_argument) {
  test::SmallTrace trace;
  trace.region(0, 100 << 20);
  trace.alloc(0, 10 << 20);
  trace.write((folder / "a.hbm").string());
  WindowRequest plain;
  plain.files = {(folder / "a.hbm").string()};
  plain.screenshot = (folder / "a.png").string();
  if (const auto status = run_window(plain); !status) GTEST_SKIP() << status.error().text();
  constexpr int wrong_argument = 2;
  const auto code_of = [&](const auto& change) {
    WindowRequest request = plain;
    change(request);
    const auto status = run_window(request);
    return status ? *status : -1;
  };
  EXPECT_EQ(0, code_of([](WindowRequest& request) { request.find = "size>1GiB"; }));
  EXPECT_EQ(wrong_argument, code_of([](WindowRequest& request) { request.view = "nonsense"; }));
  EXPECT_EQ(wrong_argument, code_of([](WindowRequest& request) { request.heap = "GPU7"; }));
  EXPECT_EQ(wrong_argument, code_of([](WindowRequest& request) { request.find = "size>>3"; }));
  EXPECT_EQ(wrong_argument, code_of([](WindowRequest& request) { request.where = "bogus:3 size>"; }));
  std::filesystem::create_directories(folder / "empty");
  EXPECT_EQ(wrong_argument, code_of([&](WindowRequest& request) { request.files = {(folder / "empty").string()}; }));
}

}  // namespace
}  // namespace hbmscope::gui
