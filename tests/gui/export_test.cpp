// Files that the window writes: the picture of a view, its figures, and the same rows of the trace as the command.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "analysis/write/trace_table.h"
#include "app/gui/core/answers.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;

class Export : public GuiTest {
 protected:
  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void open_small(ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0, 100 << 20);
    for (std::uint64_t i = 0; i < 4; ++i) trace.alloc(i << 24, 10 << 20, "step");
    trace.free(1 << 24);
    trace.write(path("small.hbm"));
    open(hand, {path("small.hbm")});
  }
  bool write(ImGuiTestContext& hand, CommandId what, const std::string& file) {
    commands().push(what);
    hand.Yield(2);
    EXPECT_EQ(gui::WindowState::Dialog::export_file, state().window.dialog);
    commands().push(command::write_export, file);
    return wait_until(hand, [this] { return state().window.notice.starts_with("Wrote "); });
  }
};

TEST_F(Export, a_picture_is_the_whole_window_in_the_current_folder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::create_directories(path("elsewhere"));
  std::filesystem::current_path(path("elsewhere"));
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::open_file);  // The dialog shows the folder of the file.
    ASSERT_TRUE(wait_until_idle(hand));
    commands().push(CommandId::close_dialog);
    commands().push(CommandId::save_picture);
    ASSERT_TRUE(wait_until(hand, [this] { return state().window.notice.starts_with("Wrote "); }));
  });
  std::filesystem::current_path(before);
  const std::string png = read(path("elsewhere/small.png"));
  ASSERT_GT(png.size(), 100U);
  EXPECT_EQ(1600, int{static_cast<std::uint8_t>(png[18])} * 256 + static_cast<std::uint8_t>(png[19]));
}

TEST_F(Export, picture_of_a_view_is_a_png_of_it_alone) {
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::show_heap_map);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(write(hand, CommandId::export_view_picture, path("map.png"))) << state().window.notice;
    const std::string png = read(path("map.png"));
    ASSERT_GT(png.size(), 100U);
    EXPECT_EQ("PNG", png.substr(1, 3));
    const auto number = [&](std::size_t at) {
      return int{static_cast<std::uint8_t>(png[at])} * 256 + static_cast<std::uint8_t>(png[at + 1]);
    };
    const ImGuiTestItemInfo map = hand.ItemInfo("//Heap map/**/pieces");
    EXPECT_GE(number(18), static_cast<int>(map.RectFull.GetWidth()));
    EXPECT_LT(number(18), 1600) << "not the whole window";
    EXPECT_LT(number(22), 1000);
  });
}

TEST_F(Export, letters_are_not_for_the_map_behind_the_dialog) {
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::show_heap_map);
    ASSERT_TRUE(wait_until_idle(hand));
    commands().push(CommandId::export_picture);
    hand.Yield(3);
    ASSERT_EQ(gui::WindowState::Dialog::export_file, state().window.dialog);
    hand.ItemClick("**/Up");
    hand.KeyPress(ImGuiKey_R);
    hand.Yield(2);
    EXPECT_EQ(state().position().map_layout, gui::MapLayout::automatic);
    hand.KeyPress(ImGuiKey_Escape);
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_R);
    hand.Yield(2);
    EXPECT_EQ(state().position().map_layout, gui::MapLayout::by_region)
        << "with the dialog gone it is the map's key again";
  });
}

TEST_F(Export, a_file_that_is_there_is_replaced_only_by_a_second_press) {
  std::filesystem::create_directories(path("folder"));
  std::ofstream(path("folder/taken.png")) << "mine";
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::export_picture);
    hand.Yield(3);
    commands().push(command::list_folder, path("folder"));
    ASSERT_TRUE(wait_until_idle(hand));
    hand.ItemClick("**/##name");
    hand.KeyCharsReplace("taken.png");
    hand.ItemDoubleClick("**/Write");
    hand.Yield(3);
    EXPECT_EQ("mine", read(path("folder/taken.png")));
    EXPECT_EQ(gui::WindowState::Dialog::export_file, state().window.dialog) << "it asks";
    take_picture_now(hand, "export_replace");
    hand.SleepNoSkip(1, 0.05F);
    hand.ItemClick("**/Write");
    ASSERT_TRUE(wait_until(hand, [this] { return state().window.notice.starts_with("Wrote "); }));
  });
  EXPECT_GT(read(path("folder/taken.png")).size(), 1000U);
}

TEST_F(Export, figures_of_a_view_are_what_it_copies) {
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::show_blocks);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(write(hand, CommandId::export_figures, path("blocks.csv"))) << state().window.notice;
    const std::string csv = read(path("blocks.csv"));
    EXPECT_NE(std::string::npos, csv.find("10485760")) << csv;
    EXPECT_EQ(5, std::count(csv.begin(), csv.end(), '\n')) << "a head, and four blocks at the peak\n" << csv;
    commands().push(CommandId::copy);
    hand.Yield(3);
    EXPECT_TRUE(state().window.clipboard.find('\t') != std::string::npos) << "a copy is a copy again";
  });
}

TEST_F(Export, rows_of_the_trace_are_those_of_the_command) {
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    commands().push(CommandId::go_to_end);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(write(hand, CommandId::export_events, path("events.csv"))) << state().window.notice;
    const auto& moment = *state().answers().moment.value;
    std::string expected;
    write_trace_csv(*moment.trace, moment.states, TraceTable::events, [&](std::string_view text) {
      expected += text;
      return true;
    });
    EXPECT_EQ(expected, read(path("events.csv")));
    EXPECT_EQ(7, std::count(expected.begin(), expected.end(), '\n'));
  });
}

TEST_F(Export, never_over_what_is_open) {
  run([&](ImGuiTestContext& hand) {
    open_small(hand);
    const std::string before = read(path("small.hbm"));
    commands().push(CommandId::export_blocks);
    hand.Yield(2);
    commands().push(command::write_export, path("small.hbm"));
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().window.notice.ends_with("is open here, and is not written over.")) << state().window.notice;
    EXPECT_EQ(before, read(path("small.hbm")));
  });
}

}  // namespace
}  // namespace hbmscope::test
