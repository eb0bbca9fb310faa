// Addresses over time under a hand: the picture, a click, the wheel.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;

class AddressTimeView : public GuiTest {
 protected:
  // One block in the upper half of the addresses, from the middle of the time on; 100 small ones come and go below.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0x10000000, 100 * mib);
    for (std::uint64_t i = 0; i < 100; ++i) {
      if (i == 50) trace.alloc(0x10000000 + 50 * mib, 50 * mib, "late");
      trace.alloc(0x10000000 + i % 10 * mib, mib, "step");
      trace.free(0x10000000 + i % 10 * mib);
    }
    trace.write(path("late.hbm"));
    return path("late.hbm");
  }
  const gui::AddressTime& picture() const { return *state().answers().address_time.value; }
};

TEST_F(AddressTimeView, click_goes_to_the_moment_and_selects_what_lay_there_and_the_wheel_zooms_in_time) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(CommandId::show_address_time);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().answers().address_time.value);
    EXPECT_EQ(101U, picture().boxes);
    ASSERT_FALSE(picture().legend.empty());
    EXPECT_TRUE(picture().legend[0].name.starts_with("late")) << "most bytes for the longest time";
    const ImGuiTestItemInfo info = hand.ItemInfo("//Address x time/**/picture");
    ASSERT_NE(0U, info.ID);
    const ImRect box = info.RectFull;
    EXPECT_EQ(static_cast<int>(box.GetWidth()), picture().query.width) << "a cell for each pixel";
    const auto cell_at = [&](float x, float y) {
      const int column = static_cast<int>(x * static_cast<float>(picture().query.width)),
                row = static_cast<int>(y * static_cast<float>(picture().query.height));
      return picture().cells[static_cast<std::size_t>(row * picture().query.width + column)];
    };
    EXPECT_EQ(0, cell_at(0.25F, 0.75F).quarters);
    EXPECT_TRUE(cell_at(0.25F, 0.75F).has_memory);
    EXPECT_EQ(4, cell_at(0.75F, 0.75F).quarters);
    take_picture_now(hand, "address_time");

    hand.MouseMoveToPos({box.Min.x + box.GetWidth() * 0.75F, box.Min.y + box.GetHeight() * 0.75F});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NEAR(151, static_cast<double>(state().answers().moment.value->moment.positions[0]), 4);
    ASSERT_TRUE(state().position().address);
    EXPECT_NEAR(static_cast<double>(0x10000000 + 75 * mib), static_cast<double>(*state().position().address),
                static_cast<double>(mib));

    hand.MouseWheelY(4);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_FALSE(state().position().span.empty()) << "the timeline shows the same stretch";
    EXPECT_EQ(state().position().span, picture().query.span);
    EXPECT_TRUE(state().position().addresses.empty()) << "the wheel is about time";
    hand.KeyDown(ImGuiMod_Ctrl);
    hand.MouseWheelY(4);
    hand.KeyUp(ImGuiMod_Ctrl);
    ASSERT_TRUE(wait_until_idle(hand));
    const AddressRange near = state().position().addresses;
    EXPECT_NEAR(100.0 / 2.44, static_cast<double>(near.size()) / mib, 2);
    EXPECT_TRUE(near.begin < 0x10000000 + 75 * mib && near.end > 0x10000000 + 75 * mib) << "what the pointer is over";
    EXPECT_EQ(near, picture().query.addresses);
    take_picture_now(hand, "address_time_zoomed");
    hand.KeyPress(ImGuiKey_A);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_LT(state().position().addresses.begin, near.begin);
    hand.KeyPress(ImGuiKey_0);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().span.empty());
    EXPECT_TRUE(state().position().addresses.empty());
  });
}

}  // namespace
}  // namespace hbmscope::test
