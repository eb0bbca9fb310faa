// The heap map and the timeline under a hand that points, clicks, turns the wheel and drags.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/platform/window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::ViewKind;

bool tooltip_is_there() {
  for (const ImGuiWindow* window : ImGui::GetCurrentContext()->Windows)
    if (window->Active && (window->Flags & ImGuiWindowFlags_Tooltip) != 0) return true;
  return false;
}

class TraceViews : public GuiTest {
 protected:
  // 100 MiB: blocks of 10 MiB at every 20 MiB; the one at 40 MiB goes, a request of 50 MiB fails, the one at 0 goes.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 5; ++i) trace.alloc(i * 20 * mib, 10 * mib, i % 2 == 0 ? "forward" : "backward");
    trace.free(40 * mib);
    trace.run_out_of_memory(50 * mib);
    trace.free(0);
    trace.add_heap("GPU 1");
    trace.region(0, 10 * mib);
    trace.write(path("small.hbm"));
    return path("small.hbm");
  }

  // Where an address is on the screen, while all of the heap is shown.
  ImVec2 point_of(ImGuiTestContext& hand, std::uint64_t address) {
    const ImGuiTestItemInfo picture = hand.ItemInfo("//Heap map/**/pieces");
    EXPECT_NE(0U, picture.ID);
    const gui::HeapSpans& spans = state().answers().heap_map.value->spans;
    const gui::HeapMapView view = gui::fit_heap_map(spans, static_cast<int>(picture.RectFull.GetWidth()),
                                                    static_cast<int>(picture.RectFull.GetHeight()));
    const auto px = static_cast<int>(gui::HeapLine(spans, view.bytes_per_px).px_of(address));
    return {picture.RectFull.Min.x + static_cast<float>(px % view.width),
            picture.RectFull.Min.y + static_cast<float>(px / view.width * view.pitch + view.pitch / 2)};
  }
  std::uint64_t position_now() const { return state().answers().moment.value->moment.positions[0]; }
};

TEST_F(TraceViews, trace_opens_with_its_heap_map_and_a_click_selects_the_block_in_all_views) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_EQ(ViewKind::heap_map, state().position().view);
    ASSERT_NE(nullptr, state().answers().heap_map.value);
    hand.MouseMoveToPos(point_of(hand, 25 * mib));
    hand.SleepNoSkip(1.0F, 0.05F);
    EXPECT_TRUE(wait_until(hand, tooltip_is_there));
    take_picture_now(hand, "heap_map_tooltip");
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(20 * mib, state().position().address);
    EXPECT_EQ("backward", state().position().selection.function);
    hand.MouseMoveToPos(point_of(hand, 35 * mib));
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(30 * mib, state().position().address) << "free pieces are selected as blocks are";
    EXPECT_TRUE(state().position().selection.empty());
  });
  take_picture("heap_map");
}

TEST_F(TraceViews, wheel_zooms_at_the_pointer_and_zero_shows_all) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const ImVec2 block = point_of(hand, 65 * mib), beside = point_of(hand, 60 * mib - 512 * 1024);
    hand.MouseMoveToPos(block);
    hand.MouseWheelY(6);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    // In the strip that the rows became.
    const float middle = hand.ItemInfo("//Heap map/**/pieces").RectFull.Min.y + 10;
    hand.MouseMoveToPos({block.x, middle});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(60 * mib, state().position().address) << "what was under the pointer is there still";
    // Nearer by 1.25^6 the neighbours have moved away.
    hand.MouseMoveToPos({beside.x, middle});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(30 * mib, state().position().address);
    hand.KeyPress(ImGuiKey_0);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    hand.MouseMoveToPos(beside);
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(30 * mib, state().position().address) << "all is shown again";
  });
}

TEST_F(TraceViews, timeline_is_dragged_stepped_and_led_to_failures) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const ImGuiTestItemInfo columns = hand.ItemInfo("//Timeline/**/columns");
    ASSERT_NE(0U, columns.ID);
    const float y = columns.RectFull.GetCenter().y;
    hand.MouseMoveToPos({columns.RectFull.Min.x + columns.RectFull.GetWidth() * 0.2F, y});
    hand.SleepNoSkip(1.0F, 0.05F);
    EXPECT_TRUE(wait_until(hand, tooltip_is_there));
    take_picture_now(hand, "timeline_tooltip");
    const float scrubber = hand.ItemInfo("//Timeline/**/scrubber").RectFull.GetCenter().y;
    hand.MouseMoveToPos({columns.RectFull.Min.x + columns.RectFull.GetWidth() * 0.2F, scrubber});
    hand.MouseDown();
    hand.MouseMoveToPos({columns.RectFull.Min.x + columns.RectFull.GetWidth() * 0.5F, scrubber});
    hand.MouseUp();
    ASSERT_TRUE(wait_until_idle(hand));
    const std::uint64_t dragged = position_now();
    EXPECT_GT(dragged, 2U);
    EXPECT_LT(dragged, 8U);
    EXPECT_EQ(ViewKind::timeline, state().position().view);
    hand.KeyPress(ImGuiKey_RightArrow);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(dragged + 1, position_now());
    hand.KeyPress(ImGuiKey_LeftArrow);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(dragged, position_now());
    hand.KeyPress(ImGuiKey_End);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiKey_LeftBracket);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(7U, position_now()) << "just before the request that failed";
  });
  take_picture("timeline_at_failure");
}

TEST_F(TraceViews, why_it_failed_is_in_front_of_each_file_that_has_it_however_late_it_is_known) {
  SmallTrace fine, failing;
  for (SmallTrace* trace : {&fine, &failing}) {
    trace->region(0, 100 * mib);
    trace->alloc(0, 10 * mib, "step");
  }
  failing.run_out_of_memory(500 * mib);
  fine.write(path("fine.hbm"));
  failing.write(path("failing.hbm"));
  const auto is_in_front = [](const char* name) {
    const ImGuiWindow* window = ImGui::FindWindowByName(name);
    return window != nullptr && window->DockTabIsVisible;
  };
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("fine.hbm")});
    EXPECT_TRUE(is_in_front("Top")) << "nothing failed here";
    commands().push(gui::CommandId::close_file);
    hand.Yield(2);
    open(hand, {path("failing.hbm")});  // Like a long recording, whose end is read last.
    hand.Yield(4);
    EXPECT_TRUE(is_in_front("Why it failed"));
    EXPECT_EQ(gui::ViewKind::heap_map, state().position().view) << "without taking the focus";
    hand.WindowFocus("//Fragmentation");
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(4);
    EXPECT_TRUE(is_in_front("Fragmentation")) << "once only";
  });
}

TEST_F(TraceViews, heap_without_memory_says_so) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::choose_heap, HeapKey{0, 2});
    commands().push(gui::command::set_moment, std::string("#3"));
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().answers().heap_map.value->spans.spans.empty());
  });
  take_picture("heap_map_of_an_empty_heap");
}

// Like a job that was attached to while its own profiler held CUPTI.
TEST_F(TraceViews, where_no_heap_is_known_the_drivers_totals_are_drawn_and_why_is_said) {
  SmallTrace trace;
  trace.fact("hbmscope.attached", "yes");
  trace.fact("hbmscope.driver_calls", "not reported: CUPTI is in use");
  trace.mark("attached");
  for (std::int64_t i = 0; i < 3; ++i) {
    trace.report("GPU 0 bytes in use by all processes (NVML)", (10 + i) << 30);
    trace.report("GPU 0 bytes held by this process (NVML)", (3 + i) << 30);
  }
  trace.write(path("totals.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("totals.hbm")});
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(1U, state().source()->attached.size());
    EXPECT_EQ(3ULL << 30, state().source()->attached[0].held_bytes);
    EXPECT_EQ(gui::AnswerState::absent, state().answers().heap_map.state);
    ASSERT_NE(nullptr, state().answers().timeline.value);
    EXPECT_TRUE(state().answers().timeline.value->heap.empty());
    EXPECT_EQ(2U, state().answers().timeline.value->counters.size());
    EXPECT_TRUE(hand.ItemExists("//Timeline/**/columns"));
    EXPECT_FALSE(hand.ItemExists("//Heap map/**/pieces"));
  });
  take_picture("totals_without_a_heap");
}

TEST_F(TraceViews, at_rest_nothing_is_computed_or_drawn_again) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(5);
    const auto map = state().answers().heap_map.value;
    for (int frame = 0; frame < 20; ++frame) {
      EXPECT_TRUE(commands().empty()) << "a frame at rest wants no other";
      EXPECT_EQ(map, state().answers().heap_map.value);
      hand.Yield();
    }
  });
}

TEST_F(TraceViews, profile_has_neither_and_the_layout_follows_the_file) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_NE(0U, hand.ItemInfo("//Heap map/**/pieces").ID);
    commands().push(gui::CommandId::open_sample);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(ViewKind::summary, state().position().view);
    EXPECT_EQ(0U, hand.ItemInfo("//Heap map/**/pieces", ImGuiTestOpFlags_NoError).ID);
    commands().push(gui::CommandId::show_heap_map);
    hand.Yield(3);
    EXPECT_EQ("This file has sizes and stacks, but no addresses or times.", state().window.notice);
  });
}

}  // namespace
}  // namespace hbmscope::test
