// Two sides under a hand: opened by key, used by click, locked, and closed again.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::CommandId;
namespace command = gui::command;
using gui::ViewKind;

class SideBySideView : public GuiTest {
 protected:
  // The same program with a preallocated pool, and with one that grows block by block.
  void open_both(ImGuiTestContext& hand) {
    write_both();
    open(hand, {path("growing.hbm"), path("pool.hbm")});
  }
  void write_both() {
    SmallTrace pool, growing;
    pool.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 4; ++i) {
      pool.alloc(i * 20 * mib, 10 * mib, i % 2 == 0 ? "forward" : "backward");
      growing.region(i * 10 * mib, 10 * mib);
      growing.alloc(i * 10 * mib, 10 * mib, i % 2 == 0 ? "forward" : "backward");
    }
    pool.free(0);
    growing.free(0);
    pool.run_out_of_memory(50 * mib);
    growing.region(100 * mib, 50 * mib);
    growing.alloc(100 * mib, 50 * mib, "forward");
    pool.write(path("pool.hbm"));
    growing.write(path("growing.hbm"));
  }
  // Items are named as they are in that half of the heap map.
  static void be_in(ImGuiTestContext& hand, const char* side) {
    const ImGuiTestItemInfo half = hand.WindowInfo((std::string("//Heap map/") + side).c_str());
    ASSERT_NE(nullptr, half.Window);
    hand.SetRef(half.Window);
  }
  std::uint64_t position(std::size_t side) const {
    return state().contexts[side].answers.moment.value->moment.positions[0];
  }
};

TEST_F(SideBySideView, both_timelines_and_both_maps_have_one_scale) {
  run([&](ImGuiTestContext& hand) {
    SmallTrace large;
    large.region(0, 5000 * mib);
    large.alloc(0, 4000 * mib, "forward");
    large.write(path("large.hbm"));
    write_both();
    open(hand, {path("pool.hbm"), path("large.hbm")});
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    ASSERT_TRUE(state().is_split());
    // Where 1 GiB ends in B, there is no memory in A.
    const auto width_of = [&](const char* side) {
      be_in(hand, side);
      return hand.ItemInfo("**/pieces").RectFull;
    };
    const ImRect a = width_of("A"), b = width_of("B");
    EXPECT_NEAR(a.GetWidth(), b.GetWidth(), 2);
    const auto spans = [&](std::size_t side) { return state().contexts[side].answers.heap_map.value->spans; };
    const auto fit = gui::fit_heap_map(spans(1), static_cast<int>(b.GetWidth()), static_cast<int>(b.GetHeight()));
    hand.MouseMoveToPos({a.Min.x + static_cast<float>(101.0 * mib / fit.bytes_per_px) + 20, a.Min.y + 3});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().contexts[0].position.address) << "the pool of 100 MiB ends left of that";
    take_picture_now(hand, "side_by_side_one_scale");
  });
}

TEST_F(SideBySideView, a_key_splits_the_window_and_a_click_activates_a_side) {
  run([&](ImGuiTestContext& hand) {
    open_both(hand);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().is_split());
    EXPECT_EQ(0U, state().active_context);
    EXPECT_EQ("growing.hbm", state().find_source(state().contexts[1].position.source)->name());
    be_in(hand, "B");
    const ImGuiTestItemInfo b = hand.ItemInfo("**/pieces");
    ASSERT_NE(0U, b.ID);
    hand.MouseMoveToPos(b.RectFull.GetCenter());
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(1U, state().active_context);
    EXPECT_TRUE(state().contexts[1].position.address);
    EXPECT_FALSE(state().contexts[0].position.address);
    hand.KeyPress(ImGuiKey_F7);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(0U, state().active_context);
    // The wheel over a side zooms that one; nothing is activated by looking.
    EXPECT_EQ(ViewKind::heap_map, state().contexts[0].position.view);
  });
  take_picture("side_by_side");
}

TEST_F(SideBySideView, locked_sides_go_together_and_the_words_say_who_fails) {
  run([&](ImGuiTestContext& hand) {
    open_both(hand);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ASSERT_TRUE(wait_until_idle(hand));
    be_in(hand, "B");
    hand.ComboClick("##lock/by requests");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(SameMoment::requests, state().lock);
    hand.KeyPress(ImGuiKey_F7);  // The combo made B the active side; A leads.
    commands().push(command::set_moment, "oom");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(6U, position(0));
    EXPECT_EQ(9U, position(1));
    hand.KeyPress(ImGuiKey_Comma);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(5U, position(0));
    EXPECT_EQ(8U, position(1)) << "before the free, in both";
    commands().push(command::set_moment, "oom");
    commands().push(CommandId::show_side_by_side);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_NE(nullptr, state().answers().side_by_side.value);
    EXPECT_TRUE(
        state().answers().side_by_side.value->heaps.sentences.front().starts_with("A fails at the next request"));
    commands().push(CommandId::copy);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(std::string::npos, state().window.clipboard.find("pool size\t104857600\t")) << state().window.clipboard;
  });
  take_picture("side_by_side_words");
}

TEST_F(SideBySideView, a_second_file_leaves_the_view_in_front_where_it_was) {
  write_both();
  const auto is_in_front = [](const char* name) {
    const ImGuiWindow* window = ImGui::FindWindowByName(name);
    return window != nullptr && window->DockNode != nullptr && window->DockNode->TabBar != nullptr &&
           window->DockNode->TabBar->VisibleTabId == window->TabId;
  };
  const std::string other = path("growing.hbm");
  for (const gui::Command& opens :
       {gui::Command(command::open_side_by_side, {other, {}}), gui::Command(command::open_paths, {other})}) {
    run([&](ImGuiTestContext& hand) {
      while (!state().sources.empty()) {
        commands().push(CommandId::close_file);
        ASSERT_TRUE(wait_until_idle(hand));
      }
      open(hand, {path("pool.hbm")});
      commands().push(CommandId::show_blocks);
      ASSERT_TRUE(wait_until_idle(hand));
      hand.Yield(8);
      ASSERT_TRUE(is_in_front("Blocks"));
      commands().push(CommandId::show_heap_map);  // The focus leaves the tabs below.
      ASSERT_TRUE(wait_until_idle(hand));
      hand.Yield(8);
      commands().push(opens);
      ASSERT_TRUE(wait_until_idle(hand));
      hand.Yield(8);
      ASSERT_TRUE(wait_until_idle(hand));
      ASSERT_NE(nullptr, ImGui::FindWindowByName("Diff"));
      EXPECT_EQ(ViewKind::heap_map, state().position().view);
      EXPECT_FALSE(is_in_front("Diff"));
      EXPECT_FALSE(is_in_front("Totals"));
      EXPECT_TRUE(is_in_front("Heap map"));
    });
  }
}

TEST_F(SideBySideView, the_cross_of_a_side_closes_that_side) {
  run([&](ImGuiTestContext& hand) {
    open_both(hand);
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_B);
    ASSERT_TRUE(wait_until_idle(hand));
    be_in(hand, "A");
    hand.ItemClick("x");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(state().is_split());
    EXPECT_EQ("growing.hbm", state().source()->name());
    EXPECT_EQ(2U, state().sources.size()) << "the file stays open";
  });
}

}  // namespace
}  // namespace hbmscope::test
