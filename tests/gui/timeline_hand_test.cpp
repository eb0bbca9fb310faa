// The timeline under the hand: the y axis, ranges that a program marks, times at which nothing happens.
#include <imgui_internal.h>

#include "app/gui/core/answers.h"
#include "app/gui/core/span_text.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

class TimelineHand : public GuiTest {
 protected:
  // 200 MiB that stay, and 1 MiB that comes and goes in each of 20 steps.
  std::string write_steps() {
    SmallTrace trace;
    trace.region(0, 300 * mib);
    trace.alloc(0, 200 * mib, "weights");
    for (int i = 0; i < 20; ++i) {
      trace.mark("step", 1);
      trace.alloc(200 * mib, mib, "step");
      trace.free(200 * mib);
      trace.mark("step", 2);
    }
    trace.write(path("steps.hbm"));
    return path("steps.hbm");
  }
  ImRect lanes(ImGuiTestContext& hand) const { return hand.ItemInfo("//Timeline/**/columns").RectFull; }
  gui::TimelinePicture picture(ImGuiTestContext& hand, gui::PictureOptions options) const {
    const ImRect box = lanes(hand);
    const auto& part = state().answers().timeline_part.value;
    return gui::make_picture(*state().answers().timeline.value, part.get(), options, box.Min, box.Max,
                             gui::Look(state()));
  }
};

TEST_F(TimelineHand, small_blocks_on_a_high_base_fill_a_fitted_axis) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const auto whole = picture(hand, {{}, true});
    EXPECT_EQ(0, whole.memory.least) << "it begins with nothing in use";
    const gui::TimelineSpan steps{20'000, 60'000};
    commands().push(gui::command::show_span, steps);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(0, picture(hand, {steps, false}).memory.least);
    const auto fitted = picture(hand, {steps, true});
    EXPECT_GT(fitted.memory.least, 199.0 * mib);
    EXPECT_LT(fitted.memory.most, 202.0 * mib);
    EXPECT_GT(fitted.memory.y_of(200.0 * mib) - fitted.memory.y_of(201.0 * mib), fitted.memory.height() / 2);
    EXPECT_FALSE(gui::has_pool_line(fitted));
    EXPECT_NEAR(200.5 * mib, fitted.memory.value_at(fitted.memory.y_of(200.5 * mib)), 10.0);
  });
}

// The block of a step is told apart only at the scale of a zoomed axis.
TEST_F(TimelineHand, the_wheel_zooms_the_y_axis_down_to_single_blocks) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const std::size_t height = state().context().timeline_height;
    const auto flat = picture(hand, {});
    hand.MouseMoveToPos({lanes(hand).GetCenter().x, flat.memory.y_of(200.5 * mib)});
    hand.KeyDown(ImGuiMod_Ctrl | ImGuiMod_Shift);
    for (int i = 0; i < 10; ++i) hand.MouseWheelY(1);
    hand.KeyUp(ImGuiMod_Ctrl | ImGuiMod_Shift);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_GT(state().context().timeline_height, 5 * height);
    EXPECT_TRUE(state().position().span.empty()) << "the time stays";
    hand.WindowFocus("//Timeline");
    hand.KeyPress(ImGuiKey_Y);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(height, state().context().timeline_height) << "all of it again";
  });
}

TEST_F(TimelineHand, a_click_on_a_marked_range_selects_it) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const gui::TimelinePicture drawn = picture(hand, {.seen = state().position().span, .has_thin_lanes = false});
    ASSERT_TRUE(drawn.markers);
    ASSERT_EQ(20U, drawn.source.stretches.size());
    const gui::TimelineMarker& third = drawn.source.stretches[2];
    const gui::Look look(state());
    const ImVec2 middle{(drawn.x_of(third.begin) + drawn.x_of(third.end)) / 2,
                        gui::top_of_range(drawn, look, third) + gui::marker_row(look) / 2};
    ASSERT_EQ(&third, gui::find_range_marker(drawn, look, middle));
    EXPECT_EQ(nullptr, gui::find_range_marker(drawn, look, {middle.x, middle.y + gui::marker_row(look)}));
    hand.MouseMoveToPos(middle);
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& range = state().answers().range.value;
    ASSERT_TRUE(range);
    EXPECT_EQ(third.position, range->from.positions[0]);
    EXPECT_EQ(third.end_position, range->to.positions[0]);
    EXPECT_EQ(mib, range->summary.total.allocated.bytes);
    ASSERT_TRUE(range->shown);
    EXPECT_EQ(201 * mib, range->most[*range->shown].bytes);
    EXPECT_EQ(third.position + 2, range->most[*range->shown].position) << "after the marker and the allocation";
  });
}

TEST_F(TimelineHand, the_menu_leads_to_the_table_of_spans_and_a_row_to_its_span) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    hand.MouseMoveToPos({lanes(hand).GetCenter().x, lanes(hand).Min.y + 20});
    hand.MouseClick(ImGuiMouseButton_Right);
    hand.ItemClick("//$FOCUSED/Table of spans");
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().table.value != nullptr; }));
    EXPECT_EQ("spans", state().position().table);
    EXPECT_TRUE(state().position().range.empty());
    hand.ItemClick("//Tables/**/$$0/##row");
    ASSERT_TRUE(wait_until_idle(hand));
    const gui::TimelineMarker longest = state().answers().timeline.value->stretches.front();
    EXPECT_EQ(longest.position, state().answers().moment.value->moment.positions[0])
        << "of equally long ones the first";
    const gui::TimelineColumns& whole = *state().answers().timeline.value;
    EXPECT_LE(state().position().span.begin, std::llround(whole.axis_at(longest.begin)));
    EXPECT_GE(state().position().span.end, std::llround(whole.axis_at(longest.end)));
    EXPECT_LT(state().position().span.length(), whole.whole.length() / 4) << "little of what is around it";
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().range.value != nullptr; }));
    EXPECT_EQ(longest.position, state().answers().range.value->from.positions[0]) << "the span is the range";
    EXPECT_EQ(longest.end_position, state().answers().range.value->to.positions[0]);
    EXPECT_EQ(gui::ViewKind::tables, state().position().view) << "the table stays in front";
    take_picture_now(hand, "table_of_spans");
  });
}

TEST_F(TimelineHand, j_goes_from_span_to_span_and_the_palette_to_one_of_many) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    commands().push(gui::command::set_moment, "start");
    ASSERT_TRUE(wait_until_idle(hand));
    const std::vector<gui::TimelineMarker> spans = state().answers().timeline.value->stretches;
    const auto press = [&](ImGuiKeyChord keys) {
      hand.KeyPress(keys);
      ASSERT_TRUE(wait_until_idle(hand));
      ASSERT_TRUE(wait_until(hand, [&] { return state().answers().range.value != nullptr; }));
    };
    const auto begin = [&] { return state().answers().range.value->from.positions[0]; };
    press(ImGuiKey_J);
    EXPECT_EQ(spans[0].position, begin());
    EXPECT_EQ(spans[0].end_position, state().answers().range.value->to.positions[0]);
    press(ImGuiKey_J);
    press(ImGuiKey_J);
    EXPECT_EQ(spans[2].position, begin());
    EXPECT_EQ(spans[2].position, state().answers().moment.value->moment.positions[0]);
    press(ImGuiMod_Shift | ImGuiKey_J);
    EXPECT_EQ(spans[1].position, begin());
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.KeyPress(ImGuiMod_Ctrl | ImGuiKey_P);
    hand.Yield(3);
    hand.KeyCharsReplace(spans[1].name.c_str());  // All have it.
    press(ImGuiKey_Enter);
    EXPECT_EQ(spans[2].position, begin()) << "the next of them is the range";
  });
}

TEST_F(TimelineHand, in_the_overview_edges_are_dragged_and_a_new_part_is_drawn) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const ImRect strip = hand.ItemInfo("//Timeline/**/strip").RectFull;
    const auto whole = static_cast<double>(state().answers().timeline.value->whole.end);
    const auto span = [&] { return state().position().span; };
    const auto drag = [&](float from, float to) {
      hand.MouseMoveToPos({strip.Min.x + strip.GetWidth() * from, strip.GetCenter().y});
      hand.MouseDown();
      hand.MouseMoveToPos({strip.Min.x + strip.GetWidth() * to, strip.GetCenter().y});
      hand.MouseUp();
      ASSERT_TRUE(wait_until_idle(hand));
    };
    drag(0.2F, 0.5F);
    EXPECT_NEAR(whole * 0.2, static_cast<double>(span().begin), whole * 0.01) << "drawn, as all of it was seen";
    EXPECT_NEAR(whole * 0.5, static_cast<double>(span().end), whole * 0.01);
    drag(0.5F, 0.8F);
    EXPECT_NEAR(whole * 0.2, static_cast<double>(span().begin), whole * 0.01) << "the other edge stays";
    EXPECT_NEAR(whole * 0.8, static_cast<double>(span().end), whole * 0.01);
    drag(0.5F, 0.6F);
    EXPECT_NEAR(whole * 0.3, static_cast<double>(span().begin), whole * 0.02) << "moved";
    EXPECT_NEAR(whole * 0.9, static_cast<double>(span().end), whole * 0.02);
    drag(0.02F, 0.1F);
    EXPECT_NEAR(whole * 0.1, static_cast<double>(span().end), whole * 0.01) << "drawn beside it";
  });
}

TEST_F(TimelineHand, a_span_without_length_has_no_bands) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const auto& course = state().answers().stack.value;
    ASSERT_TRUE(course);
    gui::StackedBands bands;
    EXPECT_TRUE(bands.update(course, {5'000, 9'000}, 100));
    EXPECT_FALSE(bands.update(course, {5'000, 5'000}, 100));
  });
}

TEST_F(TimelineHand, escape_that_closes_a_menu_leaves_the_range) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const ImRect box = lanes(hand);
    hand.MouseMoveToPos({box.Min.x + 101, box.GetCenter().y});
    hand.MouseDown();
    hand.MouseMoveToPos({box.Min.x + 203, box.GetCenter().y});
    hand.MouseUp();
    ASSERT_TRUE(wait_until_idle(hand));
    hand.MouseClick(ImGuiMouseButton_Right);
    ASSERT_TRUE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_FALSE(ImGui::IsPopupOpen(nullptr, ImGuiPopupFlags_AnyPopup));
    EXPECT_FALSE(state().position().range.empty());
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().range.empty());
  });
}

TEST_F(TimelineHand, a_range_begins_and_ends_where_the_hand_did) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const gui::TimelinePicture drawn = picture(hand, {.seen = state().position().span});
    const ImRect box = lanes(hand);
    const float y = box.GetCenter().y;
    hand.MouseMoveToPos({drawn.left + 101, y});
    hand.MouseDown();
    hand.MouseMoveToPos({drawn.left + 203, y});
    hand.MouseUp();
    ASSERT_TRUE(wait_until_idle(hand));
    const auto& range = state().answers().range.value;
    ASSERT_TRUE(range);
    const Stream& stream = range->trace->streams[0];
    EXPECT_EQ(std::llround(drawn.axis_of(drawn.left + 101)), stream.since_start_ns(range->from_ns[0]));
    EXPECT_EQ(std::llround(drawn.axis_of(drawn.left + 204)), stream.since_start_ns(range->to_ns[0]));
    take_picture_now(hand, "range_length");
    const auto drag = [&](float from, float to) {
      hand.MouseMoveToPos({drawn.left + from, y});
      hand.MouseDown();
      hand.MouseMoveToPos({drawn.left + to, y});
      hand.MouseUp();
      ASSERT_TRUE(wait_until_idle(hand));
    };
    const auto expect = [&](float begin, float end) {
      const auto& now = *state().answers().range.value;
      EXPECT_NEAR(drawn.axis_of(drawn.left + begin), static_cast<double>(stream.since_start_ns(now.from_ns[0])), 2);
      EXPECT_NEAR(drawn.axis_of(drawn.left + end), static_cast<double>(stream.since_start_ns(now.to_ns[0])), 2);
    };
    drag(204, 300);  // By its end.
    expect(101, 301);
    drag(101, 60);  // By its beginning.
    expect(60, 301);
    drag(150, 170);  // Inside: another range.
    expect(150, 171);
  });
}

TEST_F(TimelineHand, arrows_step_under_the_pointer_and_labels_lead_there) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_steps()});
    const gui::TimelinePicture drawn = picture(hand, {.seen = state().position().span});
    const gui::Look look(state());
    hand.MouseMoveToPos({drawn.left + 400, drawn.memory.from.y + 20});
    hand.WindowFocus("//Heap map");
    const std::uint64_t before = state().answers().moment.value->position(HeapKey{0, 1});
    hand.KeyPress(ImGuiKey_RightArrow, 2);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(before + 2, state().answers().moment.value->position(HeapKey{0, 1}));
    const auto& peak = *drawn.source.peak;
    hand.MouseMoveToPos({drawn.x_of(peak.at) + look.px(20), drawn.top - gui::label_height(look) + look.px(4)});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(peak.position, state().answers().moment.value->position(HeapKey{0, 1}));
  });
}

TEST_F(TimelineHand, a_zoomed_picture_of_little_has_a_lower_axis) {
  run([&](ImGuiTestContext& hand) {
    SmallTrace trace;
    trace.region(0, 300 * mib);
    trace.alloc(0, 10 * mib, "small");
    for (int i = 0; i < 40; ++i) {
      trace.alloc(10 * mib, mib, "step");
      trace.free(10 * mib);
    }
    trace.alloc(10 * mib, 200 * mib, "large");
    trace.write(path("low.hbm"));
    open(hand, {path("low.hbm")});
    const gui::TimelinePicture all = picture(hand, {.seen = {}});
    const gui::TimelinePicture part = picture(hand, {.seen = {10'000, 40'000}});
    EXPECT_EQ(all.memory.most / 16, part.memory.most) << "11 MiB and a tenth";
    EXPECT_EQ(part.memory.most, picture(hand, {.seen = {12'000, 42'000}}).memory.most)
        << "it stays as the picture is moved";
  });
}

// Nothing happens after the failure for a while: a click there stays there, and is not called the failure.
TEST_F(TimelineHand, a_click_behind_a_failure_is_not_at_the_failure) {
  SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 50 * mib, "weights");
  trace.run_out_of_memory(80 * mib);
  trace.time_passes(50'000);
  trace.free(0);
  trace.write(path("pause.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("pause.hbm")});
    hand.MouseMoveToPos(lanes(hand).GetCenter());
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    const gui::TraceMoment& moment = *state().answers().moment.value;
    const std::string phrase = gui::phrase_of(moment, {0, 1});
    EXPECT_EQ(std::string::npos, phrase.find("failure")) << phrase;
    const auto shown = picture(hand, {state().position().span});
    EXPECT_NEAR(lanes(hand).GetCenter().x,
                shown.x_of_axis(gui::axis_of_moment(moment, *state().answers().timeline.value)), 2);
  });
}

}  // namespace
}  // namespace hbmscope::test
