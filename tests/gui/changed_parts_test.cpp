#include "app/gui/platform/changed_parts.h"

#include <algorithm>
#include <random>

#include "tests/gui/gui_test.h"

namespace hbmscope::test {
namespace {

using gui::PixelBox;

bool has(const PixelBox& box, int x, int y) {
  return x >= box.left && x < box.right && y >= box.top && y < box.bottom;
}

TEST(PixelBoxes, are_few_and_apart_and_hold_what_was_added) {
  std::mt19937 random(7);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 200; ++round) {
    gui::PixelBoxes boxes;
    std::vector<PixelBox> added;
    for (int i = below(12); i >= 0; --i) {
      const int x = below(60), y = below(60);
      added.push_back({x, y, x + below(20), y + below(20)});
      boxes.add(added.back());
    }
    ASSERT_LE(boxes.all().size(), 4U);
    for (int y = 0; y < 80; ++y)
      for (int x = 0; x < 80; ++x) {
        const auto holding =
            std::count_if(boxes.all().begin(), boxes.all().end(), [&](const PixelBox& box) { return has(box, x, y); });
        ASSERT_LE(holding, 1) << x << ", " << y;
        const bool is_added =
            std::any_of(added.begin(), added.end(), [&](const PixelBox& box) { return has(box, x, y); });
        ASSERT_TRUE(!is_added || holding == 1) << x << ", " << y;
      }
  }
}

TEST(ClipOf, rounds_as_the_backend_does) {
  ImDrawData frame;
  frame.DisplaySize = {100, 50};
  frame.FramebufferScale = {1, 1};
  ImDrawCmd command;
  command.ClipRect = {10.5F, 4.5F, 20.7F, 9.25F};
  // From the left: 10, and 10.2 wide. From the bottom: 50 - 9.25 = 40.75, and 4.75 high: rows 40 to 44 of 50.
  EXPECT_EQ(gui::clip_of(command, frame), (PixelBox{10, 6, 20, 10}));
  command.ClipRect = gui::clip_rect_of({10, 6, 20, 10}, frame);
  EXPECT_EQ(gui::clip_of(command, frame), (PixelBox{10, 6, 20, 10}));
  frame.FramebufferScale = {2, 2};
  command.ClipRect = gui::clip_rect_of({11, 7, 21, 10}, frame);
  EXPECT_EQ(gui::clip_of(command, frame), (PixelBox{11, 7, 21, 10}));
  command.ClipRect = {20, 4, 10, 9};
  EXPECT_TRUE(gui::clip_of(command, frame).empty());
}

class ChangedPartsOfWindow : public GuiTest {};

TEST_F(ChangedPartsOfWindow, are_all_that_is_drawn) {
  run([&](ImGuiTestContext& hand) {
    hand.MouseMoveToPos({5, 500});
    hand.Yield(10);
    const std::uint64_t whole = 1600 * 1000;
    EXPECT_EQ(session().drawn_pixels(), 0U) << "nothing has changed";
    hand.MouseMove("**/Open file...");
    hand.Yield();
    std::uint64_t most = 0;
    for (int i = 0; i < 10; ++i) {
      hand.Yield();
      most = std::max(most, session().drawn_pixels());
    }
    EXPECT_LT(most, whole);
    commands().push(gui::CommandId::toggle_theme);
    hand.Yield(2);
    EXPECT_EQ(session().drawn_pixels(), whole);
  });
}

}  // namespace
}  // namespace hbmscope::test
