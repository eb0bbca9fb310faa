// The timeline of all devices: rows on one scale.
#include <tuple>

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/views/timeline/draw_timeline_layout.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

class TimelineDevices : public GuiTest {
 protected:
  // 20 blocks on each.
  std::string write_devices(std::uint64_t count) {
    SmallTrace trace;
    for (std::uint64_t heap = 0; heap < count; ++heap) {
      if (heap > 0) trace.add_heap("GPU " + std::to_string(heap));
      trace.region((heap + 1) << 32, 300 * mib);
      for (std::uint64_t i = 0; i < 20; ++i) trace.alloc(((heap + 1) << 32) + i * mib, mib, "step");
    }
    trace.write(path("devices.hbm"));
    return path("devices.hbm");
  }
  void show_all(ImGuiTestContext& hand) {
    commands().push(gui::command::choose_heap, HeapKey{0, 1});
    commands().push(gui::CommandId::toggle_all_devices);
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().device_stacks.value != nullptr; }));
    hand.Yield(5);
  }
  gui::TimelinePicture picture(ImGuiTestContext& hand, gui::PictureOptions options) const {
    const ImRect box = hand.ItemInfo("//Timeline/**/columns").RectFull;
    return gui::make_picture(*state().answers().timeline.value, nullptr, options, box.Min, box.Max, gui::Look(state()));
  }
};

TEST_F(TimelineDevices, devices_are_small_multiples_on_one_scale) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_devices(1)});
    const gui::Look look(state());
    gui::PictureOptions options;
    options.devices = 7;
    options.device = 2;
    options.most_beside = 900 * mib;
    const auto picture =
        gui::make_picture(*state().answers().timeline.value, nullptr, options, {0, 0}, {400, look.px(400)}, look);
    ASSERT_EQ(7U, picture.devices.size());
    EXPECT_FALSE(picture.fits || picture.growth || picture.markers);
    EXPECT_DOUBLE_EQ(990.0 * mib, picture.memory.most);
    for (const gui::Lane& lane : picture.devices) {
      EXPECT_FLOAT_EQ(picture.memory.height(), lane.height());
      EXPECT_DOUBLE_EQ(picture.memory.most, lane.most);
      EXPECT_LE(lane.to.y, look.px(400));
    }
    EXPECT_LT(picture.devices[1].to.y, picture.memory.from.y) << "each has its place";
    options.y_range = gui::ByteRange{100.0 * mib, 500.0 * mib};
    const auto zoomed =
        gui::make_picture(*state().answers().timeline.value, nullptr, options, {0, 0}, {400, look.px(400)}, look);
    EXPECT_EQ(0, zoomed.devices[0].least) << "rows keep their foot";
    EXPECT_EQ(500.0 * mib, zoomed.devices[0].most);
    options.y_range.reset();
    EXPECT_GT(picture.devices[2].from.y, picture.memory.to.y);
    EXPECT_EQ(0U, picture.devices_left_out);
  });
}

// Three of eight fit. The shown one, the third, stays in view at the edge.
TEST_F(TimelineDevices, devices_that_do_not_fit_scroll_and_keep_their_height) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_devices(1)});
    const gui::Look look(state());
    gui::PictureOptions options;
    options.devices = 7;
    options.device = 2;
    const float row = ImGui::GetTextLineHeight(), height = 3.5F * (row + look.px(3));
    using Numbers = std::vector<std::size_t>;
    const auto made = [&](std::size_t first) {
      options.first_device = first;
      return gui::make_picture(*state().answers().timeline.value, nullptr, options, {0, 0}, {400, height}, look);
    };
    for (const auto& [first, others, is_shown_above] : {std::tuple{0, Numbers{0, 1}, false},
                                                        {2, Numbers{3, 4}, true},
                                                        {4, Numbers{5, 6}, true},
                                                        {7, Numbers{6, 7}, true}}) {
      const auto picture = made(static_cast<std::size_t>(first));
      EXPECT_EQ(others, picture.device_numbers) << first;
      EXPECT_EQ(5U, picture.devices_left_out);
      EXPECT_EQ(std::min<std::size_t>(5, static_cast<std::size_t>(first)), picture.first_device);
      EXPECT_EQ(is_shown_above, picture.memory.from.y < picture.devices.front().from.y);
      EXPECT_GE(picture.memory.height(), row);
      EXPECT_EQ("", gui::words_not_drawn(picture, true));
    }
  });
}

TEST_F(TimelineDevices, a_click_on_a_row_or_its_name_shows_that_device) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_devices(3)});
    commands().push(gui::command::choose_heap, HeapKey{0, 1});
    commands().push(gui::CommandId::toggle_all_devices);
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().device_stacks.value != nullptr; }));
    hand.Yield(5);
    gui::PictureOptions options{.seen = state().position().span};
    options.devices = 2;
    const gui::TimelinePicture drawn = picture(hand, options);
    ASSERT_EQ(2U, drawn.devices.size());
    const std::vector<std::uint64_t> shown = state().answers().moment.value->moment.positions;
    const float x = drawn.left + 0.8F * static_cast<float>(drawn.width);
    hand.MouseMoveToPos({x, (drawn.devices[1].from.y + drawn.devices[1].to.y) / 2});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ((HeapKey{0, 3}), state().answers().timeline.value->heap);
    EXPECT_EQ(shown, state().answers().moment.value->moment.positions) << "at the shown time";
    hand.ItemClick("//Timeline/**/device 0.2");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ((HeapKey{0, 2}), state().answers().timeline.value->heap);
  });
}

TEST_F(TimelineDevices, eight_rows_fit_a_low_window_and_come_forward) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_devices(8)});
    glfwSetWindowSize(static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle), 1280, 720);
    hand.Yield(8);
    commands().push(gui::CommandId::show_heap_map);
    hand.Yield(5);
    ASSERT_FALSE(hand.ItemExists("//Timeline/**/columns")) << "the timeline is a tab behind the heap map";
    show_all(hand);
    for (int heap = 1; heap <= 8; ++heap)
      EXPECT_TRUE(heap == 1 || hand.ItemExists(("//Timeline/**/device 0." + std::to_string(heap)).c_str())) << heap;
    EXPECT_FALSE(hand.ItemExists("//Timeline/**/rows")) << "no row is out of sight";
    take_picture_now(hand, "timeline_eight_devices_low");
  });
}

// Twenty rows have no room in the window: the wheel over their names leads to the last one.
TEST_F(TimelineDevices, the_wheel_over_the_names_scrolls_rows) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_devices(20)});
    show_all(hand);
    EXPECT_FALSE(hand.ItemExists("//Timeline/**/device 0.20"));
    const ImRect name = hand.ItemInfo("//Timeline/**/device 0.2").RectFull;
    hand.MouseMoveToPos(name.GetCenter());
    for (int i = 0; i < 20; ++i) hand.MouseWheelY(-1);
    hand.Yield(3);
    EXPECT_TRUE(state().position().span.empty()) << "time stays";
    EXPECT_EQ(1U, state().answers().timeline.value->heap.heap) << "the device in front stays";
    hand.ItemClick("//Timeline/**/device 0.20");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ((HeapKey{0, 20}), state().answers().timeline.value->heap);
    hand.ItemDragWithDelta("//Timeline/**/rows", {0, -2000});
    hand.Yield(3);
    EXPECT_TRUE(hand.ItemExists("//Timeline/**/device 0.1"));
    take_picture_now(hand, "timeline_twenty_devices");
  });
}

}  // namespace
}  // namespace hbmscope::test
