#include "app/gui/core/source_listing.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "analysis/read/pprof/read_pprof.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

TEST(SourceListing, a_file_of_another_machine_is_found_by_the_longest_tail) {
  const fs::path root = fs::path(testing::TempDir()) / "tails";
  fs::remove_all(root);
  fs::create_directories(root / "models");
  std::ofstream(root / "train.py") << "top\n";
  std::ofstream(root / "models" / "train.py") << "below\n";
  const auto found = find_source_file("/home/other/project/models/train.py", {root.string()});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(*found, (root / "models" / "train.py").string());
  EXPECT_EQ(*find_source_file("C:\\work\\train.py", {root.string()}), (root / "train.py").string());
}

TEST(SourceListing, a_missing_file_says_where_it_was_looked_for) {
  const auto found = find_source_file("/nowhere/at/all.py", {"/some/folder"});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("/nowhere/at/all.py"), std::string::npos);
  EXPECT_NE(found.error().remedy.find("/some/folder"), std::string::npos);
}

TEST(SourceListing, shows_the_line_that_holds_the_most_of_the_selected_function) {
  auto profile = read_pprof(HBMSCOPE_SAMPLES "/leak_step_200.pprof.gz");
  ASSERT_TRUE(profile) << profile.error().text();
  ViewRequest by_line;
  by_line.by = FrameBy::line;
  const auto view = make_view(std::make_shared<const Profile>(std::move(*profile)), by_line);
  ASSERT_TRUE(view);
  FrameKey selected;
  for (const Frame& frame : view->frames)
    if (frame.function == "remember_activations") selected = {frame.function, frame.file, 0};
  ASSERT_FALSE(selected.empty());
  const auto listing = read_source_listing(*view, selected, {HBMSCOPE_SAMPLES});
  ASSERT_TRUE(listing) << listing.error().text();
  ASSERT_LE(static_cast<std::size_t>(listing->focus), listing->lines.size());
  EXPECT_NE(listing->lines[static_cast<std::size_t>(listing->focus) - 1].find("hidden_layer(params, images)"),
            std::string::npos);
  EXPECT_FALSE(listing->exact);
  EXPECT_GT(listing->amounts.at(listing->focus).flat.bytes, 90 << 20);
}

}  // namespace
}  // namespace hbmscope::gui
