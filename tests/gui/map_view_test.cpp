// The heap map's rows, legend, ends and layers, operated by hand, and the animated playback of time.
#include <chrono>

#include <GLFW/glfw3.h>
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "app/gui/core/place_text.h"
#include "app/gui/platform/initial_commands.h"
#include "app/gui/platform/window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

class MapView : public GuiTest {
 protected:
  // Regions of 20 and 2 MiB, half full.
  std::string write_regions(std::uint64_t count) {
    SmallTrace trace;
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t size = i % 3 == 0 ? 2 * mib : 20 * mib;
      trace.region(i * 64 * mib, size);
      trace.alloc(i * 64 * mib, size / 2, i % 2 == 0 ? "forward" : "backward");
    }
    trace.write(path("regions.hbm"));
    return path("regions.hbm");
  }
  const gui::HeapSpans& spans() const { return state().answers().heap_map.value->spans; }
  std::uint64_t position_now() const { return state().answers().moment.value->moment.positions[0]; }
};

TEST_F(MapView, r_gives_each_region_rows_of_its_own) {
  const std::string file = write_regions(12);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_R);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().map_layout, gui::MapLayout::by_region);
    EXPECT_TRUE(gui::open_command(state()).ends_with(" --rows region")) << gui::open_command(state());
    // The third row begins with the third region.
    const ImRect picture = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    const auto view = gui::fit_heap_map(spans(), static_cast<int>(picture.GetWidth()),
                                        static_cast<int>(picture.GetHeight()), gui::MapLayout::by_region);
    const gui::HeapLine line(spans(), view);
    const auto row = static_cast<float>(line.begin_px(2) / view.width);
    hand.MouseMoveToPos({picture.Min.x + 2, picture.Min.y + (row + 0.5F) * static_cast<float>(view.pitch)});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(2 * 64 * mib, state().position().address);
  });
  take_picture("heap_map_by_region");
}

TEST_F(MapView, strip_zooms_at_the_pointer_and_a_copied_command_shows_the_same) {
  SmallTrace trace;
  trace.region(0, 256 * mib);
  for (std::uint64_t at = 0; at < 256; at += 8) trace.alloc(at * mib, 5 * mib, at % 16 == 0 ? "forward" : "backward");
  trace.write(path("strip.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("strip.hbm")});
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_U);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().map_layout, gui::MapLayout::strip);
    EXPECT_TRUE(gui::open_command(state()).ends_with(" --rows strip")) << gui::open_command(state());
    const ImRect picture = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    const int width = static_cast<int>(picture.GetWidth()), height = static_cast<int>(picture.GetHeight());
    const int x = width / 3;
    const auto view = [&] { return gui::strip_of_addresses(spans(), width, height, state().position().addresses); };
    const auto pointed_at = [&] { return *gui::HeapLine(spans(), view()).address_at(view().origin + x); };
    const std::uint64_t before = pointed_at();
    const double scale = view().bytes_per_px;
    hand.MouseMoveToPos({picture.Min.x + static_cast<float>(x), picture.GetCenter().y});
    for (int notch = 0; notch < 8; ++notch) hand.MouseWheelY(1);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_LT(view().bytes_per_px, scale / 4);
    EXPECT_NEAR(static_cast<double>(pointed_at()), static_cast<double>(before), 2 * scale);
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().position().address);
    EXPECT_EQ(spans().find(before)->begin, *state().position().address);

    // The same window from the copied options.
    const AddressRange shown = state().position().addresses;
    const std::string command = gui::open_command(state());
    const std::string option = " --rows strip --addresses " + gui::text_from_addresses(shown);
    EXPECT_NE(command.find(option), std::string::npos) << command;
    commands().push(gui::command::show_addresses, {});
    commands().push(gui::command::set_map_layout, gui::MapLayout::wrapped);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().addresses.empty());
    gui::WindowRequest request;
    request.files = {path("strip.hbm")};
    request.rows = "strip";
    request.addresses = gui::text_from_addresses(shown);
    gui::push_initial_commands(commands(), request);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(state().position().map_layout, gui::MapLayout::strip);
    EXPECT_EQ(state().position().addresses, shown);
    EXPECT_NEAR(static_cast<double>(pointed_at()), static_cast<double>(before), 2 * scale);

    // The whole heap again.
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_0);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().addresses.empty());
  });
  take_picture("heap_map_strip");
}

TEST_F(MapView, the_wheel_leads_from_rows_into_a_strip_and_home_back) {
  const std::string file = write_regions(6);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_EQ(gui::MapLayout::wrapped, gui::map_layout_of(state(), 0));
    hand.WindowFocus("//Heap map");
    const ImRect picture = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    hand.MouseMoveToPos({picture.Min.x + picture.GetWidth() / 3, picture.Min.y + 4});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().position().address);
    const gui::HeapSpan block = *spans().find(*state().position().address);
    hand.MouseWheelY(1);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    EXPECT_EQ(gui::MapLayout::strip, gui::map_layout_of(state(), 0));
    EXPECT_EQ(gui::MapLayout::automatic, state().position().map_layout) << "nobody chose it";
    const ImRect strip = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    hand.MouseMoveToPos({picture.Min.x + picture.GetWidth() / 3, strip.Min.y + 10});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(block.begin, spans().find(*state().position().address)->begin) << "the same block is under the pointer";
    take_picture_now(hand, "heap_map_rows_to_strip");
    hand.KeyPress(ImGuiKey_Home);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().addresses.empty());
    EXPECT_EQ(gui::MapLayout::wrapped, gui::map_layout_of(state(), 0));
    hand.MouseWheelY(1);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.MouseWheelY(-2);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(gui::MapLayout::wrapped, gui::map_layout_of(state(), 0)) << "zooming out leads back as well";
  });
}

TEST_F(MapView, above_twenty_regions_it_is_a_strip_until_rows_are_chosen) {
  const std::string file = write_regions(30);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_EQ(gui::MapLayout::strip, gui::map_layout_of(state(), 0));
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_U);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(gui::MapLayout::wrapped, state().position().map_layout);
    hand.KeyPress(ImGuiKey_U);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(gui::MapLayout::automatic, state().position().map_layout);
  });
}

TEST_F(MapView, finding_blocks_leaves_the_map_where_it_is) {
  const std::string file = write_regions(12);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    hand.WindowFocus("//Heap map");
    const ImRect before = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    commands().push(gui::CommandId::find);
    hand.Yield(3);
    const ImRect after = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    EXPECT_EQ(before.Min.x, after.Min.x);
    EXPECT_EQ(before.GetWidth(), after.GetWidth());
    EXPECT_EQ(before.Min.y, after.Min.y);
  });
}

TEST_F(MapView, regions_that_do_not_fit_are_dragged_into_sight) {
  const std::string file = write_regions(200);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::CommandId::toggle_regions);
    ASSERT_TRUE(wait_until_idle(hand));
    const ImRect picture = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    hand.MouseMoveToPos({picture.Min.x + 4, picture.Max.y - 20});
    hand.MouseDown();
    hand.MouseMoveToPos({picture.Min.x + 4, picture.Min.y + 20});
    hand.MouseUp();
    hand.MouseMoveToPos({picture.Min.x + 4, picture.Min.y + 4});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().position().address);
    EXPECT_GT(*state().position().address, 64 * mib) << "the first rows have gone up";
  });
  take_picture("heap_map_of_many_regions");
}

TEST_F(MapView, any_number_of_regions_draws_in_a_window_of_any_size) {
  for (const std::uint64_t regions : {31, 6'000}) {
    const std::string file = write_regions(regions);
    run([&](ImGuiTestContext& hand) {
      open(hand, {file});
      for (const auto& [width, height] : {std::pair{900, 600}, {200, 150}, {420, 500}, {1280, 300}, {1600, 1000}}) {
        glfwSetWindowSize(static_cast<GLFWwindow*>(ImGui::GetMainViewport()->PlatformHandle), width, height);
        hand.Yield(5);
        EXPECT_EQ(static_cast<float>(width), ImGui::GetMainViewport()->Size.x);
        for (const auto layout : {gui::MapLayout::strip, gui::MapLayout::by_region, gui::MapLayout::wrapped}) {
          commands().push(gui::command::set_map_layout, layout);
          hand.Yield(3);
        }
      }
      // The splitter beside Sources, dragged to the right edge of the window.
      const ImGuiDockNode* side = ImGui::FindWindowByName("Sources")->DockNode;
      while (side->ParentNode->SplitAxis != ImGuiAxis_X) side = side->ParentNode;
      ImGui::DockBuilderSetNodeSize(side->ID, {100'000, side->Size.y});
      hand.Yield(5);
      EXPECT_LT(ImGui::FindWindowByName("Heap map")->Size.x, 160);
    });
    take_picture("heap_map_without_room");
    run([&](ImGuiTestContext& hand) {
      commands().push(gui::CommandId::reset_layout);
      hand.Yield(3);
    });
  }
}

TEST_F(MapView, click_on_the_legend_filters_its_blocks_and_once_more_lets_go) {
  const std::string file = write_regions(12);
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_EQ(2U, spans().legend.size());
    const std::string name = spans().legend[0].name;
    hand.ItemClick(("//Heap map/**/" + name).c_str());
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("own=\"" + name + "\"", state().position().request.where);
    ASSERT_TRUE(state().answers().blocks.value);
    EXPECT_EQ(spans().legend[0].blocks, state().answers().blocks.value->list.rows.size());
    hand.MouseMoveToPos({2, 2});
    take_picture_now(hand, "heap_map_one_colour");
    hand.ItemClick(("//Heap map/**/" + name).c_str());
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().request.where.empty());
    hand.ItemClick(("//Heap map/**/" + name).c_str());
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().request.where.empty()) << "Esc lets go as well";
  });
}

TEST_F(MapView, layers_of_one_device_are_chips_and_a_single_one_has_none) {
  SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, 10 * mib, "step");
  trace.write(path("one.hbm"));
  trace.add_layer("driver", wire::Layer::physical);
  trace.region(0, 100 * mib);
  trace.alloc(0, 64 * mib);
  trace.write(path("two.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("one.hbm")});
    EXPECT_FALSE(hand.ItemExists("//Heap map/Pool"));
    open(hand, {path("two.hbm")});
    ASSERT_TRUE(wait_until(hand, [&] { return hand.ItemExists("//Heap map/Driver"); }));
    hand.ItemClick("//Heap map/Driver");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(2U, state().answers().heap_map.value->heap.heap);
    EXPECT_EQ(100 * mib, spans().region_bytes);
    hand.ItemClick("//Heap map/Pool");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(1U, state().answers().heap_map.value->heap.heap);
  });
  take_picture("heap_map_layers");
}

TEST_F(MapView, sources_list_heaps_under_their_devices_and_a_click_shows_one) {
  SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 40 * mib, "step");
  trace.add_heap("GPU 1");
  trace.region(0, 100 * mib);
  trace.alloc(0, 10 * mib, "step");
  trace.write(path("two_devices.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("two_devices.hbm")});
    EXPECT_EQ(1U, state().answers().heap_map.value->heap.heap) << "the one with the higher peak";
    ASSERT_TRUE(wait_until(hand, [&] { return hand.ItemExists("//Sources/**/###heap 1:2"); }));
    hand.ItemClick("//Sources/**/###heap 1:2");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(2U, state().answers().heap_map.value->heap.heap);
  });
  take_picture("sources_heaps");
}

TEST_F(MapView, many_devices_are_a_row_of_cells_and_a_click_shows_one) {
  SmallTrace trace;
  for (std::uint64_t device = 0; device < 24; ++device) {
    if (device > 0) trace.add_heap("GPU " + std::to_string(device));
    trace.region(0, 100 * mib);
    trace.alloc(0, (device * 4 + 4) * mib, "step");
    if (device == 20) trace.run_out_of_memory(90 * mib);
  }
  trace.write(path("many_devices.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("many_devices.hbm")});
    EXPECT_EQ(21U, state().answers().heap_map.value->heap.heap) << "the one whose request failed";
    hand.ItemClick("//hbmscope/$$5/card");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(6U, state().answers().heap_map.value->heap.heap);
  });
  take_picture("device_cells");
}

TEST_F(MapView, two_ends_are_named_and_flagged) {
  SmallTrace trace;
  trace.add_two_ended_heap("XLA pool");
  trace.region(0, 64 * mib);
  for (const std::uint64_t at : {0, 6, 14, 20}) trace.alloc(at * mib, 3 * mib, "weights");
  for (const std::uint64_t at : {60, 52, 44}) trace.alloc_from_above(at * mib, 4 * mib);
  trace.write(path("ends.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("ends.hbm")});
    EXPECT_TRUE(spans().has_two_ends);
    EXPECT_EQ(gui::SpanEnd::lower, spans().find(4 * mib)->ends);
    EXPECT_EQ(gui::SpanEnd::both, spans().find(30 * mib)->ends);
    EXPECT_EQ(gui::SpanEnd::upper, spans().find(50 * mib)->ends);
  });
  take_picture("heap_map_two_ends");
}

TEST_F(MapView, space_plays_to_the_end_and_pauses_and_rest_is_rest) {
  SmallTrace trace;
  trace.region(0, 100 * mib);
  for (std::uint64_t i = 0; i < 100; ++i) trace.alloc(i * mib, mib, "leak");
  trace.write(path("leak.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("leak.hbm")});
    commands().push(gui::command::set_moment, std::string("start"));
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiKey_Space);
    ASSERT_TRUE(wait_until(hand, [&] { return position_now() > 10; }));
    EXPECT_TRUE(state().context().is_playing);
    hand.KeyPress(ImGuiKey_Space);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().context().is_playing);
    const std::uint64_t paused = position_now();
    EXPECT_LT(paused, 101U);
    for (int frame = 0; frame < 20; ++frame) {
      EXPECT_TRUE(commands().empty()) << "a frame at rest wants no other";
      hand.Yield();
    }
    EXPECT_EQ(paused, position_now());
    const auto since = std::chrono::steady_clock::now();
    hand.KeyPress(ImGuiKey_Space);
    bool is_ahead = false;
    ASSERT_TRUE(wait_until(hand, [&] {
      const double passed = std::chrono::duration<double>(std::chrono::steady_clock::now() - since).count();
      is_ahead = is_ahead || static_cast<double>(position_now()) > static_cast<double>(paused) + passed / 3 * 101 + 1;
      return !state().context().is_playing;
    }));
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(101U, position_now());
    EXPECT_FALSE(is_ahead) << "all of it takes three seconds, however few pictures a slow machine has of it";
    hand.KeyPress(ImGuiKey_Space);  // At the end it starts over; going elsewhere stops it.
    ASSERT_TRUE(wait_until(hand, [&] { return position_now() < 101; }));
    hand.KeyPress(ImGuiKey_P);
    ASSERT_TRUE(wait_until(hand, [&] { return !state().context().is_playing; }));
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("peak", state().position().at);
  });
}

TEST_F(MapView, shift_with_comma_and_period_steps_through_what_an_address_held) {
  SmallTrace trace;
  trace.region(0, 100 * mib);  // 1
  trace.alloc(0, mib, "a");    // 2
  trace.alloc(mib, mib, "b");  // 3
  trace.free(0);               // 4
  trace.free(mib);             // 5
  trace.alloc(0, mib, "c");    // 6
  trace.alloc(mib, mib, "d");  // 7
  trace.write(path("address.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("address.hbm")});
    commands().push(gui::command::set_moment, std::string("#3"));
    commands().push(gui::command::select_address, {0x0});
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiMod_Shift | ImGuiKey_Period);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(4U, position_now());
    hand.KeyPress(ImGuiMod_Shift | ImGuiKey_Period);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(6U, position_now()) << "not what became of its neighbour";
    hand.KeyPress(ImGuiMod_Shift | ImGuiKey_Comma);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(4U, position_now());
    hand.KeyPress(ImGuiMod_Shift | ImGuiKey_Comma);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(2U, position_now());
  });
}

}  // namespace
}  // namespace hbmscope::test
