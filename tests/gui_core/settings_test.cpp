#include "app/gui/core/settings.h"

#include <cstdlib>
#include <ctime>
#include <fstream>

#include <gtest/gtest.h>

#include "app/gui/core/glossary.h"
#include "app/gui/sources/folder_listing.h"

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
  const Settings written{Theme::light, true, 1.5, "kate"};
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

TEST(Glossary, is_sorted_and_explains_each_term_once) {
  for (std::size_t i = 1; i < glossary().size(); ++i) EXPECT_LT(glossary()[i - 1].term, glossary()[i].term);
  EXPECT_NE(std::string_view(), meaning_of("external fragmentation"));
  EXPECT_EQ(std::string_view(), meaning_of("no such term"));
}

TEST(FolderListing, is_sorted_by_each_column_with_folders_first) {
  std::vector<FolderEntry> entries{{"b", false, true, 10, 300},
                                   {"c", false, true, 30, 100},
                                   {"a", true, false, 0, 200},
                                   {"d", false, true, 20, 200}};
  const auto names = [&](EntryOrder order, bool is_ascending) {
    sort_entries(entries, order, is_ascending);
    std::string all;
    for (const FolderEntry& entry : entries) all += entry.name;
    return all;
  };
  EXPECT_EQ("abcd", names(EntryOrder::name, true));
  EXPECT_EQ("acdb", names(EntryOrder::size, false));
  EXPECT_EQ("acdb", names(EntryOrder::changed, true));
}

TEST(FolderListing, knows_when_files_changed_and_where_home_is) {
  const fs::path home = fresh_folder("home");
  std::ofstream(home / "train.log") << "text";
  setenv("HOME", home.c_str(), 1);
  const auto listing = list_folder("~");
  ASSERT_TRUE(listing);
  EXPECT_EQ(home.string(), listing->folder);
  ASSERT_EQ(1u, listing->entries.size());
  EXPECT_NEAR(static_cast<double>(std::time(nullptr)), static_cast<double>(listing->entries[0].changed_s), 60);
}

}  // namespace
}  // namespace hbmscope::gui
