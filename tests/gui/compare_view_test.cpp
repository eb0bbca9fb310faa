// A pinned time: the map in the colours of the change, Compare, and the way back.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/copy_as_command.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::HeapColoring;
using gui::ViewKind;

class CompareView : public GuiTest {
 protected:
  // Ten steps: in each, 4 MiB of "leak" stay, and 20 MiB of "step" replace those of the previous step.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    for (std::uint64_t i = 0; i < 10; ++i) {
      trace.alloc(i * 4 * mib, 4 * mib, "leak");
      if (i > 0) trace.free((50 + 20 * ((i - 1) % 2)) * mib);
      trace.alloc((50 + 20 * (i % 2)) * mib, 20 * mib, "step");
    }
    trace.write(path("steps.hbm"));
    return path("steps.hbm");
  }
  const gui::CompareAnswer& compared() const { return *state().answers().compare.value; }
};

TEST_F(CompareView, b_pins_the_moment_and_colours_and_lists_what_changes) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::set_moment, std::string("#6"));  // After the second step.
    ASSERT_TRUE(wait_until_idle(hand));
    hand.WindowFocus("//Heap map");
    hand.KeyPress(ImGuiKey_B);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("#6", state().position().pin);
    EXPECT_EQ(HeapColoring::change, state().position().coloring);
    hand.KeyPress(ImGuiKey_End);
    commands().push(gui::CommandId::show_compare);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_NE(nullptr, state().answers().compare.value);
    EXPECT_EQ(9U, compared().diff.changes.added.count);
    EXPECT_EQ(static_cast<std::int64_t>(52 * mib), compared().diff.changes.added.now_bytes);
    EXPECT_EQ(1U, compared().diff.changes.gone.count);
    EXPECT_EQ(static_cast<std::int64_t>(32 * mib), compared().diff.changes.delta_bytes());
    ASSERT_EQ(2U, compared().diff.user_code.size());
    EXPECT_EQ("leak", compared().diff.user_code[0].function);
    const gui::HeapSpans& map = state().answers().heap_map.value->spans;
    EXPECT_EQ(gui::change_shade::same, map.find(0)->shade);
    EXPECT_EQ(gui::change_shade::added, map.find(12 * mib)->shade);
    EXPECT_EQ(1U, map.gone.size());
    EXPECT_TRUE(gui::open_command(state()).ends_with("steps.hbm --view compare --at end --pin '#6'"))
        << gui::open_command(state());
    EXPECT_TRUE(gui::report_command(state()).ends_with("steps.hbm --from '#6' --at end"))
        << gui::report_command(state());
  });
  take_picture("compare");
}

TEST_F(CompareView, swap_turns_the_sign_and_unpin_gives_the_colours_back) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::set_pin, std::string("start"));
    commands().push(gui::CommandId::go_to_end);
    commands().push(gui::CommandId::show_compare);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return hand.ItemExists("//Compare/Swap"); }));
    EXPECT_EQ(static_cast<std::int64_t>(60 * mib), compared().diff.changes.delta_bytes());
    hand.ItemClick("//Compare/Swap");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("end", state().position().pin);
    EXPECT_EQ(-static_cast<std::int64_t>(60 * mib), compared().diff.changes.delta_bytes());
    hand.ItemClick("//Compare/Unpin");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().pin.empty());
    EXPECT_EQ(HeapColoring::automatic, state().position().coloring);
    EXPECT_EQ(ViewKind::heap_map, state().position().view) << "nothing is left to compare";
    commands().push(gui::CommandId::back);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("end", state().position().pin) << "Alt+Left brings the pin back";
  });
}

TEST_F(CompareView, b_brings_compare_to_the_front_and_a_second_b_unpins_at_any_time) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::set_moment, std::string("#6"));
    commands().push(gui::CommandId::pin_moment);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("#6", state().position().pin);
    EXPECT_EQ(ViewKind::compare, state().position().view);
    commands().push(gui::CommandId::go_to_end);
    commands().push(gui::CommandId::pin_moment);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().pin.empty());
  });
}

TEST_F(CompareView, a_pin_that_is_no_moment_says_why) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    commands().push(gui::command::set_pin, std::string("oom"));
    commands().push(gui::CommandId::show_compare);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().answers().pinned.failed());
    EXPECT_TRUE(hand.ItemExists("//Compare/Unpin"));
    ASSERT_NE(nullptr, state().answers().heap_map.value) << "there is a map all the same";
    EXPECT_EQ(HeapColoring::user_code, state().answers().heap_map.value->spans.coloring);
  });
  take_picture("compare_without_its_moment");
}

TEST_F(CompareView, two_traces_are_compared_at_their_peaks_with_settings_first) {
  SmallTrace before, now;
  for (SmallTrace* trace : {&before, &now}) {
    trace->region(0, 100 * mib);
    trace->alloc(0, trace == &now ? 30 * mib : 20 * mib, "step");
    trace->free(0);
  }
  now.add_heap("GPU 1");
  before.write(path("monday.hbm"));
  now.write(path("today.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("today.hbm")});
    EXPECT_EQ("peak", state().position().at);
    commands().push(gui::command::open_baseline_path, path("monday.hbm"));
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().diff.state == gui::AnswerState::ready; }));
    EXPECT_EQ(static_cast<std::int64_t>(30 * mib), state().answers().diff.value->now.bytes);
    EXPECT_EQ(static_cast<std::int64_t>(20 * mib), state().answers().diff.value->baseline.bytes) << "not at its end";
    ASSERT_TRUE(state().answers().settings.value);
    ASSERT_EQ(1U, state().answers().settings.value->size());
    EXPECT_EQ("heaps", state().answers().settings.value->front().key);
    EXPECT_TRUE(gui::report_command(state()).ends_with("today.hbm --at peak")) << gui::report_command(state());
    take_picture_now(hand, "diff_of_two_traces");
    commands().push(gui::CommandId::go_to_end);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().diff.value->now.bytes == 0; }));
    EXPECT_EQ(0, state().answers().diff.value->baseline.bytes) << "a moment with a name is that of both";
    commands().push(gui::command::set_moment, std::string("#1"));
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().diff.value->baseline.bytes != 0; }));
    EXPECT_EQ(static_cast<std::int64_t>(20 * mib), state().answers().diff.value->baseline.bytes);
    EXPECT_TRUE(gui::report_command(state()).ends_with("today.hbm --from peak --at '#1'"))
        << gui::report_command(state());
  });
}

}  // namespace
}  // namespace hbmscope::test
