#include "app/gui/core/settings.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

fs::path fresh_folder(const char* name) {
  fs::path folder = fs::path(testing::TempDir()) / name;
  fs::remove_all(folder);
  fs::create_directories(folder);
  return folder;
}

TEST(Settings, come_back_as_they_were_written) {
  const fs::path file = fresh_folder("settings") / "deeper" / "settings.json";
  const Settings written{Theme::light, 1.5};
  ASSERT_TRUE(write_settings(file, written));
  EXPECT_EQ(read_settings(file), written);
}

TEST(Settings, a_missing_broken_or_silly_file_means_the_defaults) {
  const fs::path folder = fresh_folder("broken");
  EXPECT_EQ(read_settings(folder / "none.json"), Settings{});
  for (const char* text : {"", "{", "[1,2]", R"({"theme": 3, "text_scale": "big"})"}) {
    std::ofstream(folder / "settings.json") << text;
    EXPECT_EQ(read_settings(folder / "settings.json"), Settings{}) << text;
  }
  std::ofstream(folder / "settings.json") << R"({"text_scale": 100})";
  EXPECT_EQ(read_settings(folder / "settings.json").text_scale, 2.0);
}

TEST(Settings, recent_files_are_unique_newest_first_and_at_most_20) {
  std::vector<RecentFile> recent;
  for (int i = 0; i < 25; ++i) add_recent(recent, {"/f" + std::to_string(i), "", 1, i, false});
  add_recent(recent, {"/f10", "again", 2, 99, false});
  EXPECT_EQ(recent.size(), 20u);
  EXPECT_EQ(recent.front().headline, "again");
  const fs::path file = fresh_folder("recent") / "recent.json";
  ASSERT_TRUE(write_recent(file, recent));
  const auto read = read_recent(file);
  ASSERT_EQ(read.size(), 20u);
  EXPECT_EQ(read[0].path, "/f10");
  EXPECT_EQ(read[1].path, "/f24");
  EXPECT_EQ(read[0].size_bytes, 2u);
}

TEST(Settings, folders_follow_xdg_and_ignore_relative_ones) {
  setenv("XDG_CONFIG_HOME", "/tmp/xdg-config", 1);
  EXPECT_EQ(config_folder(), fs::path("/tmp/xdg-config/hbmscope"));
  setenv("XDG_CONFIG_HOME", "relative", 1);
  setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(config_folder(), fs::path("/home/somebody/.config/hbmscope"));
  unsetenv("XDG_STATE_HOME");
  EXPECT_EQ(state_folder(), fs::path("/home/somebody/.local/state/hbmscope"));
}

}  // namespace
}  // namespace hbmscope::gui
