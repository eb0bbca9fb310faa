// The timeline under a hand: zoom, pan, the strip, the scrubber, ranges; and the tabs that belong to it.
#include <cmath>
#include <set>

#include <imgui_internal.h>

#include "analysis/document/json.h"
#include "app/gui/core/answers.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/sources/trace_moment.h"
#include "app/gui/views/import/draw_import.h"
#include "app/gui/views/timeline/draw_timeline_lanes.h"
#include "app/gui/views/timeline/draw_timeline_marks.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using gui::ViewKind;

class TimelineView : public GuiTest {
 protected:
  // 100 steps, each of which leaves 1 MiB of "leak"; then a request of 500 MiB fails.
  std::string write_trace(const std::string& name = "leak.hbm", std::uint64_t earlier = 0) {
    SmallTrace trace;
    trace.region(0, 300 * mib);
    for (std::uint64_t i = 0; i < earlier; ++i) trace.alloc((150 + i) * mib, mib, "load");
    for (std::uint64_t i = 0; i < 100; ++i) {
      trace.alloc(i * mib, mib, "leak");
      trace.alloc(200 * mib, 50 * mib, "step");
      trace.free(200 * mib);
    }
    trace.run_out_of_memory(500 * mib);
    trace.write(path(name));
    return path(name);
  }
  ImRect box(ImGuiTestContext& hand, const char* item) const {
    const ImGuiTestItemInfo info = hand.ItemInfo(item);
    EXPECT_NE(0U, info.ID) << item;
    return info.RectFull;
  }
  static ImVec2 at(const ImRect& box, float share) { return {box.Min.x + box.GetWidth() * share, box.GetCenter().y}; }
  void drag_over_a_third(ImGuiTestContext& hand) const {
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    hand.MouseMoveToPos(at(lanes, 0.3F));
    hand.MouseDown();
    hand.MouseMoveToPos(at(lanes, 0.6F));
    hand.MouseUp();
  }
  std::uint64_t position_now() const { return state().answers().moment.value->moment.positions[0]; }
  gui::TimelineSpan span() const { return state().position().span; }
};

TEST(TimelineMarks, failures_of_one_pixel_are_one_column_as_high_as_the_largest_request) {
  gui::TimelineColumns source;
  source.whole = source.span = {0, 1000};
  gui::TimelinePicture picture{.source = source, .begin = 0, .end = 1000, .left = 10, .width = 100};
  const std::vector<gui::TimelineMark> failures{{0.101, 1, 5}, {0.102, 2, 9}, {0.1031, 3, 7}, {0.5, 4, 1}, {1.5, 5, 1}};
  const auto columns = gui::failure_columns(picture, failures);
  ASSERT_EQ(2U, columns.size());
  EXPECT_EQ(20, columns[0].x);
  EXPECT_EQ(3U, columns[0].count);
  EXPECT_EQ(9U, columns[0].bytes);
  EXPECT_EQ(60, columns[1].x);
}

TEST_F(TimelineView, many_failures_leave_the_picture_readable) {
  SmallTrace trace;
  trace.region(0, 300 * mib);
  for (std::uint64_t i = 0; i < 300; ++i) {
    trace.alloc(i * mib, mib, "leak");
    trace.run_out_of_memory((100 + i) * mib);
  }
  trace.write(path("failures.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("failures.hbm")});
    ASSERT_EQ(300U, state().answers().timeline.value->failures.size());
  });
  take_picture("timeline_of_many_failures");
}

TEST_F(TimelineView, wheel_zooms_at_the_pointer_and_the_picture_has_exactly_that_span) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_TRUE(span().empty());
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    hand.MouseMoveToPos(at(lanes, 0.25F));
    hand.MouseWheelY(6);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_FALSE(span().empty());
    const auto whole = static_cast<double>(state().answers().timeline.value->whole.end);
    const double under = static_cast<double>(span().begin) + 0.25 * static_cast<double>(span().length());
    EXPECT_NEAR(under, whole * 0.25, whole * 0.005) << "what was under the pointer is there still";
    EXPECT_NEAR(static_cast<double>(span().length()), whole / std::pow(1.25, 6), whole * 0.005);
    ASSERT_TRUE(state().answers().timeline_part.value);
    EXPECT_EQ(span(), state().answers().timeline_part.value->span);
    EXPECT_EQ(static_cast<std::size_t>(lanes.GetWidth()), state().answers().timeline_part.value->columns.size())
        << "one column for each pixel";
    take_picture_now(hand, "timeline_zoomed");
    // The keys of the focused picture: D moves forward in time, 0 shows everything.
    const std::int64_t begin = span().begin;
    hand.WindowFocus("//Timeline");
    hand.KeyPress(ImGuiKey_D);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_GT(span().begin, begin);
    hand.KeyPress(ImGuiKey_0);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(span().empty());
  });
}

TEST_F(TimelineView, strip_and_right_button_move_what_is_seen) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const ImRect lanes = box(hand, "//Timeline/**/columns"), strip = box(hand, "//Timeline/**/strip");
    hand.MouseMoveToPos(at(lanes, 0.1F));
    hand.MouseWheelY(8);
    ASSERT_TRUE(wait_until_idle(hand));
    const std::int64_t length = span().length();
    hand.MouseMoveToPos(at(strip, 0.8F));
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    const double whole = static_cast<double>(state().answers().timeline.value->whole.end);
    EXPECT_NEAR(static_cast<double>(span().begin) + static_cast<double>(length) / 2, whole * 0.8, whole * 0.02);
    EXPECT_NEAR(static_cast<double>(span().length()), static_cast<double>(length), 2);
    const std::int64_t begin = span().begin;
    hand.MouseMoveToPos(at(lanes, 0.2F));
    hand.MouseDown(ImGuiMouseButton_Right);
    hand.MouseMoveToPos(at(lanes, 0.7F));
    hand.MouseUp(ImGuiMouseButton_Right);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_LT(span().begin, begin) << "the picture follows the hand";
  });
}

TEST_F(TimelineView, click_sets_the_moment_and_snaps_to_the_failure) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    EXPECT_EQ(301U, position_now()) << "a trace opens at its failure";
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    hand.MouseMoveToPos(at(lanes, 0.5F));
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NEAR(151, static_cast<double>(position_now()), 4);
    hand.MouseMoveToPos({lanes.Max.x - 3, lanes.GetCenter().y});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(301U, position_now()) << "3 pixels beside the failure";
    const ImRect scrubber = box(hand, "//Timeline/**/scrubber");
    hand.MouseMoveToPos(at(scrubber, 0.9F));
    hand.MouseDown();
    hand.MouseMoveToPos(at(scrubber, 0.2F));
    hand.MouseUp();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NEAR(60, static_cast<double>(position_now()), 4);
    EXPECT_TRUE(state().position().range.empty());
  });
}

TEST_F(TimelineView, drag_selects_a_range_whose_survivors_are_the_leak_and_escape_clears_it) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    drag_over_a_third(hand);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_FALSE(state().position().range.empty());
    EXPECT_EQ(301U, position_now()) << "the moment stays";
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().range.value != nullptr; }))
        << "the tab is there and asks";
    const RangeSummary& summary = state().answers().range.value->summary;
    ASSERT_FALSE(summary.user_code.empty());
    EXPECT_EQ("leak", summary.user_code[0].function);
    EXPECT_NEAR(30, static_cast<double>(summary.user_code[0].sums.survived.count), 2);
    EXPECT_EQ(summary.user_code[0].sums.survived.count * mib, summary.user_code[0].sums.survived.bytes);
    take_picture_now(hand, "range");
    hand.KeyPress(ImGuiKey_Escape);
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_TRUE(state().position().range.empty());
  });
}

TEST_F(TimelineView, survivors_of_a_range_are_shown_by_a_button_in_blocks_and_heap_map) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    drag_over_a_third(hand);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().range.value != nullptr; }));
    const auto range = state().answers().range.value;
    hand.ItemClick("//Range/Show survivors");
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ(ViewKind::blocks, state().position().view);
    EXPECT_EQ(range->to.positions[0], position_now());
    const auto blocks = state().answers().blocks.value;
    ASSERT_NE(nullptr, blocks);
    EXPECT_EQ(range->summary.total.survived.count, blocks->list.rows.size());
    for (const std::uint32_t row : blocks->list.rows)
      EXPECT_GE(blocks->facts(row).block.event, range->from.positions[0]);
    ASSERT_EQ(1U, blocks->hits.size()) << "the heap map dims the rest";
    EXPECT_EQ(blocks->list.rows.size(), blocks->hits[0].ranges.size());
  });
  take_picture("survivors");
}

// Each process numbers its own events.
TEST_F(TimelineView, survivors_of_one_of_two_ranks_are_those_of_its_own_events) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {write_trace("rank_0.hbm"), write_trace("rank_1.hbm", 40)});
    commands().push(gui::CommandId::join_files);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_EQ(2U, state().source()->trace->streams.size());
    commands().push(gui::command::choose_heap, HeapKey{1, 1});
    ASSERT_TRUE(wait_until_idle(hand));
    drag_over_a_third(hand);
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().range.value != nullptr; }));
    const auto range = state().answers().range.value;
    ASSERT_GT(range->summary.total.survived.count, 20U);
    hand.ItemClick("//Range/Show survivors");
    ASSERT_TRUE(wait_until_idle(hand));
    const auto blocks = state().answers().blocks.value;
    ASSERT_NE(nullptr, blocks);
    EXPECT_EQ(range->summary.total.survived.count, blocks->list.rows.size());
    for (const std::uint32_t row : blocks->list.rows) EXPECT_EQ(1U, blocks->facts(row).stream);
  });
}

TEST_F(TimelineView, lanes_leave_the_plot_its_height_until_they_are_unfolded) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const gui::Look look(state());
    const auto picture = [&](bool unfolded, float height) {
      gui::PictureOptions options;
      options.has_thin_lanes = unfolded;
      options.has_steps = true;
      return gui::make_picture(*state().answers().timeline.value, nullptr, options, {0, 0}, {400, look.px(height)},
                               look);
    };
    EXPECT_EQ("growth per step, largest free block, fragmentation", picture(false, 310).folded);
    EXPECT_GE(picture(false, 310).memory.height(), look.px(gui::plot_least));
    EXPECT_TRUE(picture(true, 310).growth && picture(true, 310).fits && picture(true, 310).fragmentation);
    const auto large = picture(false, 500);
    EXPECT_TRUE(large.growth && large.fits && large.fragmentation) << "with room, nothing is folded";
    EXPECT_GE(large.memory.height(), look.px(gui::plot_least));
    hand.SetRef("//Timeline");
    ASSERT_TRUE(hand.ItemExists("Lanes"));
    const float folded = box(hand, "//Timeline/**/columns").GetHeight();
    hand.ItemClick("Lanes");
    hand.Yield(2);
    EXPECT_EQ(folded, box(hand, "//Timeline/**/columns").GetHeight()) << "nothing moves but the lanes";
    take_picture_now(hand, "timeline_lanes");
  });
}

// Ten steps, of which the fourth leaves 40 times as much as the others.
TEST_F(TimelineView, a_click_on_a_bar_of_growth_selects_that_step) {
  SmallTrace trace;
  trace.region(0, 300 * mib);
  for (std::uint64_t i = 0; i < 10; ++i) {
    trace.mark("step " + std::to_string(i), 1);
    trace.alloc(i * 8 * mib, i == 3 ? 80 * mib / 10 : mib / 5, "leak");
    trace.mark("step " + std::to_string(i), 2);
  }
  trace.write(path("steps.hbm"));
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("steps.hbm")});
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_TRUE(state().answers().steps.value && state().answers().steps.value->leaves_something);
    hand.SetRef("//Timeline");
    if (hand.ItemExists("Lanes")) hand.ItemClick("Lanes");
    hand.Yield(3);
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    const auto& whole = *state().answers().timeline.value;
    const gui::TimelineSpan shown = span().empty() ? whole.whole : span();
    const gui::Look look(state());
    gui::PictureOptions options{span()};
    options.has_steps = true;
    const auto picture = gui::make_picture(whole, nullptr, options, lanes.Min, lanes.Max, look);
    ASSERT_TRUE(picture.growth);
    const auto& steps = state().answers().steps.value->steps;
    const double middle = static_cast<double>(steps[3].at + steps[4].at) / 2;
    const float share =
        static_cast<float>((middle - static_cast<double>(shown.begin)) / static_cast<double>(shown.length()));
    hand.MouseMoveToPos({lanes.Min.x + share * lanes.GetWidth(), (picture.growth->from.y + picture.growth->to.y) / 2});
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    ASSERT_FALSE(state().position().range.empty());
    const auto& range = state().answers().range.value;
    ASSERT_TRUE(range);
    EXPECT_EQ(steps[3].event, range->from.positions[0]);
    EXPECT_EQ(steps[4].event, range->to.positions[0]);
    take_picture_now(hand, "timeline_growth_range");
  });
}

TEST_F(TimelineView, a_click_on_a_plateau_leaves_the_cursor_there) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const auto& whole = *state().answers().timeline.value;
    // Between two events, one microsecond apart.
    commands().push(gui::command::show_span, {100'100, 100'900});
    ASSERT_TRUE(wait_until_idle(hand));
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    hand.MouseMoveToPos(at(lanes, 0.5F));
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    const gui::TraceMoment& moment = *state().answers().moment.value;
    EXPECT_NEAR(100'500, gui::axis_of_moment(moment, whole), 5);
    EXPECT_LE(moment.position(whole.heap), 101U) << "its event is outside";
    EXPECT_EQ((gui::TimelineSpan{100'100, 100'900}), state().position().span) << "the picture stays where it is";
  });
}

// While a file is being read, the bands end where they are known, and are not drawn on as if nothing changed.
TEST(StackedBands, end_where_the_course_does) {
  SmallTrace made;
  made.region(0, 100 * mib);
  for (std::uint64_t i = 0; i < 50; ++i) made.alloc(i * mib, mib, "step");
  const auto colors = std::make_shared<gui::TraceColors>();
  const auto course = std::make_shared<const gui::StackCourse>(
      *gui::StackCourse::compute(made.trace(), {{0, 1}, gui::HeapColoring::size, colors}, nullptr, nullptr));
  gui::StackedBands bands;
  ASSERT_TRUE(bands.update(course, course->span(), 100));
  EXPECT_EQ(100, bands.known_pixels());
  ASSERT_TRUE(bands.update(course, {0, 2 * course->span().end}, 100));
  EXPECT_EQ(51, bands.known_pixels());
  EXPECT_GT(bands.pixels()[50].total, 40 * mib);
  EXPECT_EQ(0U, bands.pixels()[51].total);
  EXPECT_FALSE(bands.shade_at(60, 1.0));
}

// Many times a pixel: its column is the stack at the most, in the colours of the bands, and no line lies over it.
TEST_F(TimelineView, memory_that_swings_within_a_pixel_keeps_the_colors_of_its_bands) {
  SmallTrace trace;
  trace.region(0, 300 * mib);
  trace.alloc(0, 100 * mib, "base");
  for (int i = 0; i < 6000; ++i) {
    trace.alloc(100 * mib, 100 * mib, "swing", mib);
    trace.free(100 * mib);
  }
  trace.write(path("swing.hbm"));
  ImVec2 low, high;
  run([&](ImGuiTestContext& hand) {
    open(hand, {path("swing.hbm")});
    ASSERT_TRUE(wait_until_idle(hand));
    const ImRect lanes = box(hand, "//Timeline/**/columns");
    const gui::Look look(state());
    gui::PictureOptions options{span()};
    options.has_thin_lanes = false;
    const auto picture =
        gui::make_picture(*state().answers().timeline.value, nullptr, options, lanes.Min, lanes.Max, look);
    low = {lanes.Min.x + lanes.GetWidth() / 3, picture.memory.y_of(50.0 * mib)};
    high = {low.x, picture.memory.y_of(150.0 * mib)};
    hand.MouseMoveToPos({2, 2});
  });
  const gui::Picture picture = settled_picture();
  const auto color_at = [&](ImVec2 at) {
    const auto pixel =
        static_cast<std::size_t>(at.y) * static_cast<std::size_t>(picture.width) + static_cast<std::size_t>(at.x);
    const std::uint8_t* const rgb = picture.rgb.data() + pixel * 3;
    return gui::Color{rgb[0], rgb[1], rgb[2]};
  };
  const auto color_of_code = [&](const char* name) {
    const gui::Shade shade = state().context().colors->hues_of(gui::HeapColoring::user_code).shade_of(name);
    return gui::color_of_shade(state().settings.theme, gui::HeapColoring::user_code, shade);
  };
  EXPECT_EQ(color_of_code("base  train.py:10"), color_at(low));
  EXPECT_EQ(color_of_code("swing  train.py:10"), color_at(high));
}

TEST_F(TimelineView, a_legend_names_the_bands_and_a_click_filters) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    hand.Yield(3);
    EXPECT_TRUE(hand.ItemExists("//Timeline/**/##pool"));
    const std::string entry = "//Timeline/**/leak  train.py:10";
    ASSERT_TRUE(hand.ItemExists(entry.c_str()));
    hand.ItemClick(entry.c_str());
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_EQ("own=\"leak  train.py:10\"", state().position().request.where) << "as in the heap map";
  });
}

TEST_F(TimelineView, what_has_no_room_is_said) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    const gui::Look look(state());
    const auto words = [&](float height) {
      return gui::words_not_drawn(
          gui::make_picture(*state().answers().timeline.value, nullptr, {}, {0, 0}, {400, look.px(height)}, look),
          height > 50);
    };
    EXPECT_EQ("", words(300));
    EXPECT_EQ("No room for fragmentation (F11 maximises the view)", words(88));
    gui::PictureOptions folded;
    folded.has_thin_lanes = false;
    const auto picture =
        gui::make_picture(*state().answers().timeline.value, nullptr, folded, {0, 0}, {400, look.px(300)}, look);
    EXPECT_FALSE(picture.fits || picture.fragmentation);
    EXPECT_EQ("", gui::words_not_drawn(picture, true)) << "what was folded is not missing";
    EXPECT_EQ("No room for largest free block, fragmentation, the overview of the whole trace (F11 maximises the view)",
              words(40));
  });
}

TEST_F(TimelineView, rows_of_import_that_only_count_have_a_meaning) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    for (const std::string& one : {file, std::string(HBMSCOPE_SAMPLES "/leak_step_200.pprof.gz")}) {
      open(hand, {one});
      const ImportStatistics& import = state().source()->profile->import;
      ASSERT_FALSE(import.rows().empty());
      for (const ImportStatistic& row : import.rows())
        EXPECT_EQ(row.remedy.empty(), !gui::meaning_of(import, row).empty()) << row.name;
    }
    commands().push(gui::CommandId::show_import);
    ASSERT_TRUE(wait_until_idle(hand));
  });
  take_picture("import_meanings");
}

TEST_F(TimelineView, failure_fragmentation_and_sizes_are_shown_and_keys_lead_through_all_views) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) {
    open(hand, {file});
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().failure.value != nullptr; }))
        << "the tab in front is why it failed";
    const auto json = json_from_document(*state().answers().failure.value->document);
    EXPECT_TRUE(json["sentence"].get<std::string>().starts_with("Not enough memory")) << json["sentence"];
    for (const auto& [view, picture] :
         {std::pair(ViewKind::failure, "failure"), std::pair(ViewKind::fragmentation, "fragmentation"),
          std::pair(ViewKind::sizes, "sizes")}) {
      commands().push(gui::command::set_view, view);
      ASSERT_TRUE(wait_until_idle(hand));
      hand.Yield(3);
      EXPECT_EQ(view, state().position().view);
      take_picture_now(hand, picture);
    }
    EXPECT_TRUE(state().answers().free.value && state().answers().sizes.value);
    std::set<ViewKind> seen;
    for (std::size_t i = 0; i < gui::view_count; ++i) {
      hand.KeyPress(ImGuiKey_F6);
      ASSERT_TRUE(wait_until_idle(hand));
      seen.insert(state().position().view);
    }
    EXPECT_TRUE(seen.contains(ViewKind::failure) && seen.contains(ViewKind::sizes));
    EXPECT_FALSE(seen.contains(ViewKind::range)) << "nothing is selected";
  });
}

TEST_F(TimelineView, what_the_pool_costs_is_a_picture_that_selects_a_time) {
  run([&](ImGuiTestContext& hand) {
    open(hand, {HBMSCOPE_SAMPLES "/fragments.hbm"});
    commands().push(gui::command::set_view, ViewKind::fragmentation);
    ASSERT_TRUE(wait_until(hand, [&] { return state().answers().pool_costs.value != nullptr; }));
    EXPECT_EQ("", state().answers().pool_costs.value->unknown);
    EXPECT_GT(state().answers().pool_costs.value->times.size(), 100U);
    ASSERT_TRUE(wait_until_idle(hand));
    hand.Yield(3);
    take_picture_now(hand, "pool_costs");
    const auto before = state().position().at;
    hand.MouseMove("**/pool costs");  // Its middle.
    hand.Yield(2);
    hand.MouseClick();
    ASSERT_TRUE(wait_until_idle(hand));
    EXPECT_NE(before, state().position().at);
    const std::uint64_t position = state().answers().moment.value->moment.positions.front();
    EXPECT_NEAR(53, static_cast<double>(position), 12);
    // The figures beside the cursor are those at the cursor, also between two columns of the picture.
    commands().push(gui::CommandId::next_event);
    ASSERT_TRUE(wait_until(hand, [&] {
      const auto& here = state().answers().pool_costs_here.value;
      return here && here->times.size() == 1 && here->times.front().position == position + 1;
    }));
  });
}

}  // namespace
}  // namespace hbmscope::test
