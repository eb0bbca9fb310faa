#include "app/gui/platform/changed_parts.h"

#include <algorithm>
#include <random>

#include "app/gui/platform/opaque_pictures.h"
#include "tests/gui/gui_test.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;
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
  command.ClipRect = {20, 4, 10, 9};
  EXPECT_TRUE(gui::clip_of(command, frame).empty());
}

TEST(ClipOf, is_the_box_that_was_wanted_at_any_scale) {
  // Scales are what a desktop makes of its sizes: framebuffer / window.
  for (const auto& [pixels, points] : {std::pair{1251, 1251}, {2502, 1251}, {1251, 1001}, {1751, 1001}, {1250, 1000}}) {
    ImDrawData frame;
    frame.FramebufferScale.x = frame.FramebufferScale.y = static_cast<float>(pixels) / static_cast<float>(points);
    frame.DisplaySize = {static_cast<float>(points), static_cast<float>(points)};
    for (int from = 0; from < pixels; from += 3)
      for (int to = from + 1; to <= pixels; to += 11) {
        ImDrawCmd command;
        command.ClipRect = gui::clip_rect_of({from, from, to, to}, frame);
        ASSERT_EQ(gui::clip_of(command, frame), (PixelBox{from, from, to, to})) << pixels << "/" << points;
      }
  }
}

TEST(OpaquePictures, split_a_part_into_boxes_that_cover_it_once) {
  std::mt19937 random(11);
  const auto below = [&](int limit) { return static_cast<int>(random() % static_cast<unsigned>(limit)); };
  for (int round = 0; round < 50; ++round) {
    std::vector<gui::OpaquePicture> pictures;
    for (int i = below(4); i >= 0; --i) {
      const int x = below(1500), y = below(800);
      pictures.push_back({0, i, {x, y, x + 100 + below(1000), y + 100 + below(600)}, 0, 0});
    }
    const PixelBox part{below(200), below(200), 1000 + below(600), 700 + below(300)};
    std::uint64_t pixels = 0;
    const auto boxes = gui::split_at_pictures(part, pictures);
    for (auto one = boxes.begin(); one != boxes.end(); ++one) {
      pixels += one->box.pixels();
      EXPECT_EQ(gui::common(one->box, part), one->box);
      if (one->from != nullptr) {
        EXPECT_EQ(gui::common(one->box, one->from->box), one->box);
      }
      for (auto other = boxes.begin(); other != one; ++other) EXPECT_TRUE(gui::common(one->box, other->box).empty());
    }
    EXPECT_EQ(pixels, part.pixels());
  }
}

// Two windows, one above the other, and a tooltip.
class Changes : public testing::Test {
 protected:
  Changes() {
    frame.DisplaySize = {100, 100};
    frame.FramebufferScale = {1, 1};
    int at = 0;
    for (ImDrawList* list : {&below, &above, &tip}) {
      const float begin = static_cast<float>(at) * 20;
      list->_OwnerName = names[at++];
      for (const ImVec2 corner : {ImVec2(begin, begin), ImVec2(begin + 10, begin + 10)})
        list->VtxBuffer.push_back({corner, {0, 0}, 0xff});
      ImDrawCmd command;
      command.ClipRect = {0, 0, 100, 100};
      command.ElemCount = 3;
      list->CmdBuffer.push_back(command);
    }
    show({&below, &above});
    EXPECT_EQ(parts.find(frame), (std::vector<PixelBox>{{0, 0, 100, 100}})) << "the first";
  }
  void show(std::initializer_list<ImDrawList*> lists) {
    frame.CmdLists.resize(0);
    for (ImDrawList* list : lists) frame.CmdLists.push_back(list);
  }
  std::vector<PixelBox> find() { return parts.find(frame); }

  static constexpr const char* names[] = {"below", "above", "tip"};
  ImDrawList below{nullptr}, above{nullptr}, tip{nullptr};
  ImDrawData frame;
  gui::ChangedParts parts;
  const std::vector<PixelBox> none, of_below{{0, 0, 11, 11}}, of_above{{20, 20, 31, 31}}, of_tip{{40, 40, 51, 51}};
};

TEST_F(Changes, are_where_a_list_is_other_than_before) {
  EXPECT_EQ(find(), none);
  below.VtxBuffer[0].col = 0xfe;
  EXPECT_EQ(find(), of_below);
  above.CmdBuffer[0].ClipRect.z = 25;  // It covered more.
  EXPECT_EQ(find(), of_above);
  EXPECT_EQ(find(), none);
  parts.forget();
  EXPECT_EQ(find(), (std::vector<PixelBox>{{0, 0, 100, 100}}));
  frame.DisplaySize = {90, 100};
  EXPECT_EQ(find(), (std::vector<PixelBox>{{0, 0, 90, 100}}));
}

TEST_F(Changes, are_what_comes_and_goes_and_changes_places) {
  show({&below, &above, &tip});
  EXPECT_EQ(find(), of_tip);
  show({&below, &above});
  EXPECT_EQ(find(), of_tip);
  show({&below, &tip, &above});
  EXPECT_EQ(find(), of_tip);
  show({&below, &above, &tip});
  EXPECT_EQ(find().size(), 2U);
  show({&above, &tip});
  EXPECT_EQ(find(), of_below);
}

TEST_F(Changes, are_new_pixels_of_a_picture_too) {
  ImTextureData texture;
  texture.UseColors = true;
  texture.Status = ImTextureStatus_OK;
  above.CmdBuffer[0].TexRef._TexData = &texture;
  EXPECT_EQ(find(), of_above);
  EXPECT_EQ(find(), none);
  texture.Status = ImTextureStatus_WantUpdates;
  EXPECT_EQ(find(), of_above);
  texture.UseColors = false;
  EXPECT_EQ(find(), none) << "letters";
  texture.Status = ImTextureStatus_OK;
}

class ChangedPartsOfWindow : public GuiTest {};

TEST_F(ChangedPartsOfWindow, are_all_that_is_drawn_of_it) {
  run([&](ImGuiTestContext& hand) {
    hand.MouseMoveToPos({5, 500});
    hand.Yield(10);
    const std::uint64_t whole = 1600 * 1000;
    EXPECT_EQ(session().drawn_pixels(), 0U) << "nothing has changed";
    commands().push(command::say, "Some words.");
    std::uint64_t most = 0;
    for (int i = 0; i < 10; ++i) {
      hand.Yield();
      most = std::max(most, session().drawn_pixels());
    }
    EXPECT_GT(most, 0U);
    EXPECT_LT(most, whole);
    commands().push(CommandId::toggle_theme);
    hand.Yield(2);
    EXPECT_EQ(session().drawn_pixels(), whole);
  });
}

}  // namespace
}  // namespace hbmscope::test
