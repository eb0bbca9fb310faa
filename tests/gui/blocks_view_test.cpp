// The table of blocks, the Inspector of a block and Find, under a hand that clicks and types.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/block_table.h"
#include "app/gui/platform/window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;
using gui::ViewKind;

class BlocksView : public GuiTest {
 protected:
  // Blocks of 1 to 40 MiB at every 64 MiB, every fourth freed again, two in another heap.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0x10000000, 40 * 64 * mib);
    for (std::uint64_t i = 0; i < 40; ++i)
      trace.alloc(0x10000000 + i * 64 * mib, (i + 1) * mib, i % 2 == 0 ? "forward" : "backward");
    for (std::uint64_t i = 0; i < 40; i += 4) trace.free(0x10000000 + i * 64 * mib);
    trace.add_heap("GPU 1");
    trace.region(0x900000000, 10 * mib);
    trace.alloc(0x900000000, 3 * mib, "evaluate");
    trace.alloc(0x900000000 + 4 * mib, 2 * mib);
    trace.write(path("small.hbm"));
    return path("small.hbm");
  }
  void open_blocks(ImGuiTestContext& hand) {
    open(hand, {write_trace()});
    commands().push(command::choose_heap, HeapKey{0, 1});
    commands().push(CommandId::toggle_all_devices);
    commands().push(CommandId::go_to_end);
    commands().push(CommandId::show_blocks);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    ASSERT_TRUE(wait_until_idle(hand));
  }
  // The row as the first column's item.
  void click_row(ImGuiTestContext& hand, std::uint32_t row) {
    hand.ItemClick(("//Blocks/blocks/$$" + std::to_string(row) + "/##row").c_str());
    ASSERT_TRUE(wait_until_idle(hand));
  }
  const gui::BlocksAnswer& blocks() const { return *state().answers().blocks.value; }
  std::uint64_t size_at(std::size_t place) const { return blocks().facts(blocks().list.rows[place]).block.size; }
};

TEST_F(BlocksView, rows_are_sorted_by_a_click_and_a_click_selects_the_block_everywhere) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    EXPECT_EQ("32 of 32 blocks, 635 MiB", gui::blocks_sentence(blocks()));
    EXPECT_EQ(40 * mib, size_at(0));
    hand.TableClickHeader("//Blocks/blocks", "Address");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(BlockOrder::address, state().position().blocks.order);
    EXPECT_EQ(2 * mib, size_at(0));
    click_row(hand, blocks().list.rows[1]);
    EXPECT_EQ(0x10000000 + 2 * 64 * mib, state().position().address);
    EXPECT_EQ("forward", state().position().selection.function);
    ASSERT_NE(nullptr, state().answers().address.value) << "the Inspector asks for its history";
    EXPECT_EQ(1U, state().answers().address.value->history.rows.size());
    // A block of another heap brings its heap.
    commands().push(command::set_block_order, {BlockOrder::heap, false});
    ASSERT_TRUE(wait_until_idle(hand));
    click_row(hand, blocks().list.rows[0]);
    EXPECT_EQ((HeapKey{0, 2}), state().position().heap);
    EXPECT_EQ(state().position().heap, state().answers().heap_map.value->heap);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(std::string::npos, state().window.clipboard.find("3145728\t")) << state().window.clipboard;
    EXPECT_NE(std::string::npos, state().window.clipboard.find("evaluate  train.py:10"));
  });
  take_picture("blocks");
}

TEST_F(BlocksView, filter_is_typed_in_the_one_language_and_a_wrong_one_changes_nothing) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("size>30MiB stack:backward");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("5 of 32 blocks, 180 MiB of 635 MiB", gui::blocks_sentence(blocks()));
    take_picture_now(hand, "blocks_found");
    hand.KeyPress(ImGuiKey_F3);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(0x10000000 + 31 * 64 * mib, state().position().address);
    hand.KeyPress(ImGuiKey_F3);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(0x10000000 + 33 * 64 * mib, state().position().address);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_F);
    hand.Yield(3);
    hand.KeyCharsReplaceEnter("colour:red");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("size>30MiB stack:backward", state().position().request.where);
    EXPECT_EQ(5U, blocks().list.rows.size());
  });
}

TEST_F(BlocksView, keys_find_the_largest_free_block_and_fill_the_map_with_it) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    commands().push(CommandId::show_heap_map);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiKey_L);
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& map = *state().answers().heap_map.value;
    EXPECT_EQ(map.spans.spans[*map.spans.largest_free].begin, state().position().address);
    EXPECT_EQ(0U, hand.ItemInfo("//Heap map/**/minimap", ImGuiTestOpFlags_NoError).ID) << "all is shown";
    constexpr std::uint64_t block = 0x10000000 + 25 * 64 * mib;
    commands().push(command::select_address, {0x74000000});
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(block, state().position().address);
    hand.KeyPress(ImGuiKey_Z);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    const ImGuiTestItemInfo minimap = hand.ItemInfo("//Heap map/**/minimap");
    ASSERT_NE(0U, minimap.ID);
    // The selection is now in the middle of the picture.
    const ImGuiTestItemInfo picture = hand.ItemInfo("//Heap map/**/pieces");
    commands().push(CommandId::clear_selection);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.MouseMoveToPos(picture.RectFull.GetCenter());
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(block, state().position().address);
    take_picture_now(hand, "heap_map_zoomed");
    // The left end of the strip's minimap is the heap's begin.
    hand.MouseMoveToPos({minimap.RectFull.Min.x + 1, minimap.RectFull.GetCenter().y});
    hand.MouseClick();
    hand.Yield(3);
    hand.MouseMoveToPos({picture.RectFull.Min.x + 40, picture.RectFull.GetCenter().y});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().position().address);
    EXPECT_LT(*state().position().address, 0x10000000 + 10 * 64 * mib);
  });
}

TEST_F(BlocksView, palette_goes_to_an_address_a_moment_and_blocks) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    const auto type = [&](const char* words) {
      hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
      hand.Yield(3);
      hand.KeyCharsReplace(words);
      hand.KeyPress(ImGuiKey_Enter);
      EXPECT_TRUE(wait_until_idle(hand));
    };
    type("0x900000010");
    EXPECT_EQ(0x900000000U, state().position().address);
    EXPECT_EQ((HeapKey{0, 2}), state().position().heap);
    type("#5");
    EXPECT_EQ(5U, state().answers().moment.value->moment.positions[0]);
    EXPECT_FALSE(state().window.palette_open);
    type("size>3MiB");
    EXPECT_EQ("size>3MiB", state().position().request.where);
    EXPECT_EQ(ViewKind::heap_map, state().position().view);
  });
}

TEST_F(BlocksView, inspector_walks_along_neighbours_and_to_the_moment_of_an_allocation) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    click_row(hand, blocks().list.rows[0]);
    const std::uint64_t first = *state().position().address;
    EXPECT_EQ(40 * mib, size_at(0));
    hand.ItemClick("//Inspector/**/25.0 MiB  free");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(first - 25 * mib, state().position().address) << "the gap behind the 39 MiB before it";
    take_picture_now(hand, "inspector_of_a_gap");
    commands().push(command::select_address, {0x10000000, {}, HeapKey{0, 1}});
    ASSERT_TRUE(wait_until_idle(hand));
    // It is free, since the block at its begin was freed; a click on that one's row goes to when it came.
    ASSERT_EQ(1U, state().answers().address.value->history.rows.size());
    hand.ItemClick("//Inspector/**/1 µs");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(2U, state().answers().moment.value->moment.positions[0]);
  });
  take_picture("inspector_of_a_block");
}

TEST_F(BlocksView, events_stand_around_the_moment_and_a_click_goes_to_one) {
  run([&](ImGuiTestContext& hand) {
    open_blocks(hand);
    commands().push(command::set_moment, std::string("#20"));
    commands().push(CommandId::show_events);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    ASSERT_TRUE(wait_until_idle(hand));
    const gui::EventsAnswer& events = *state().answers().events.value;
    ASSERT_EQ(54U, events.rows.size());
    hand.ItemClick("//Events/events/$$21/##row");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(22U, state().answers().moment.value->moment.positions[0]) << "just after the event";
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_C);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(std::string::npos, state().window.clipboard.find("41\t41000\tfreed\t1048576\t0x10000000\tGPU 0"))
        << state().window.clipboard;
  });
  take_picture("events");
}

}  // namespace
}  // namespace hbmscope::test
