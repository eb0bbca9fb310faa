#include "app/gui/core/trace_colors.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "app/gui/core/color_keeper.h"
#include "app/gui/core/settings.h"
#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

namespace fs = std::filesystem;

ColorRanks ranks_of(const std::vector<std::string>& lines) {
  ColorRanks ranks;
  ranks.names[HeapColoring::user_code] = lines;
  return ranks;
}

TEST(TraceColors, the_automatic_coloring_is_the_first_that_is_known_and_divides_the_bytes) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  const auto chosen = [&] { return test::colors_of(trace.trace()).automatic; };
  EXPECT_EQ(HeapColoring::user_code, chosen()) << "nothing is there yet";
  trace.alloc(0, mib);
  EXPECT_EQ(HeapColoring::size, chosen()) << "no stack, no tag";
  trace.alloc(mib, mib - 1, "f");
  EXPECT_EQ(HeapColoring::size, chosen()) << "less than half of the bytes";
  trace.alloc(2 * mib, 1, "g");
  EXPECT_EQ(HeapColoring::user_code, chosen());
  trace.say_of(2, "category", "parameters");
  EXPECT_EQ(HeapColoring::user_code, chosen()) << "less than half of the bytes";
  trace.say_of(1, "category", "optimizer state");
  EXPECT_EQ(HeapColoring::category, chosen());
}

TEST(TraceColors, a_single_line_is_no_division_where_sizes_are_one) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, mib, "f");
  EXPECT_EQ(HeapColoring::user_code, test::colors_of(trace.trace()).automatic) << "one size";
  trace.alloc(mib, 30 * mib, "f");
  EXPECT_EQ(HeapColoring::size, test::colors_of(trace.trace()).automatic);
}

TEST(TraceColors, ranks_are_by_what_a_name_holds_at_the_most_also_if_the_peak_lacks_it) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, 20 * mib, "large");
  trace.alloc(20 * mib, 5 * mib, "small");
  trace.free(0);
  trace.alloc(0, 12 * mib, "late");
  const std::atomic<bool> cancelled = false;
  const auto ranks = compute_color_ranks(trace.trace(), {0, 1}, cancelled);
  EXPECT_EQ((std::vector<std::string>{"large  train.py:10", "late  train.py:10", "small  train.py:10"}),
            ranks->names[HeapColoring::user_code]);
  const std::atomic<bool> stopped = true;
  EXPECT_FALSE(compute_color_ranks(trace.trace(), {0, 1}, stopped));
}

TEST(TraceColors, heaps_of_other_layers_come_after_all_of_the_main_one) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, mib, "block");
  trace.add_layer("driver", wire::Layer::physical);
  trace.alloc(0x7000000000, 60 * mib, "whole pool");
  const std::atomic<bool> cancelled = false;
  EXPECT_EQ((std::vector<std::string>{"block  train.py:10", "whole pool  train.py:10"}),
            compute_color_ranks(trace.trace(), {0, 1}, cancelled)->names[HeapColoring::user_code]);
}

TEST(HueMemory, the_eight_largest_have_hues_in_their_order) {
  HueMemory memory;
  const TraceColors colors = memory.assign(ranks_of({"a", "b", "c", "d", "e", "f", "g", "h", "ninth"}));
  const HueTable& lines = colors.hues_of(HeapColoring::user_code);
  EXPECT_EQ(0, lines.shade_of("a"));
  EXPECT_EQ(7, lines.shade_of("h"));
  EXPECT_EQ(several_shade, lines.shade_of("ninth"));
  EXPECT_EQ(several_shade, lines.shade_of(""));
  EXPECT_EQ((std::vector<Shade>{0, 1, 2, 3, 4, 5, 6, 7, several_shade}), colors.stack_order(HeapColoring::user_code));
}

TEST(HueMemory, a_name_keeps_its_hue_when_its_rank_changes_and_in_another_file) {
  HueMemory memory;
  memory.assign(ranks_of({"a", "b", "c"}));
  const TraceColors grown = memory.assign(ranks_of({"new", "c", "b", "a"}));
  const HueTable& lines = grown.hues_of(HeapColoring::user_code);
  EXPECT_EQ(0, lines.shade_of("a"));
  EXPECT_EQ(1, lines.shade_of("b"));
  EXPECT_EQ(2, lines.shade_of("c"));
  EXPECT_EQ(3, lines.shade_of("new"));
  EXPECT_EQ((std::vector<Shade>{3, 2, 1, 0}), lines.order) << "stacked by rank";
}

TEST(HueMemory, of_two_names_with_one_hue_the_larger_keeps_it) {
  HueMemory memory;
  memory.assign(ranks_of({"a"}));
  memory.assign(ranks_of({"b"}));
  const TraceColors both = memory.assign(ranks_of({"b", "a"}));
  EXPECT_EQ(0, both.hues_of(HeapColoring::user_code).shade_of("b"));
  EXPECT_EQ(1, both.hues_of(HeapColoring::user_code).shade_of("a"));
}

TEST(HueMemory, a_name_has_its_hue_again_in_the_next_window) {
  HueMemory memory;
  memory.assign(ranks_of({"x", "a", "b"}));
  const fs::path file = fs::path(testing::TempDir()) / "hues" / "hues.json";
  ASSERT_TRUE(write_hues(file, memory.known().names()));
  HueMemory next(KnownHues{read_hues(file)});
  EXPECT_EQ(memory.known().names(), next.known().names());
  const TraceColors colors = next.assign(ranks_of({"new", "b", "a"}));
  EXPECT_EQ(0, colors.hues_of(HeapColoring::user_code).shade_of("new"));
  EXPECT_EQ(1, colors.hues_of(HeapColoring::user_code).shade_of("a"));
  EXPECT_EQ(2, colors.hues_of(HeapColoring::user_code).shade_of("b"));
  std::ofstream(file) << R"({"hues": [{"name": "a", "hue": 8}, {"name": "b", "hue": -1}, 3, {"hue": 2}]})";
  EXPECT_TRUE(read_hues(file).empty());
}

TEST(KnownHues, are_the_last_512) {
  KnownHues known;
  for (int i = 0; i < 600; ++i) known.set(std::to_string(i), static_cast<std::size_t>(i) % hue_count);
  known.set("300", 5);
  EXPECT_EQ(512U, known.names().size());
  EXPECT_EQ("300", known.names().front().name);
  EXPECT_EQ(5U, known.hue_of("300"));
  EXPECT_EQ(no_hue, known.hue_of("0"));
  EXPECT_TRUE(known.take_change());
  EXPECT_FALSE(known.take_change());
}

TEST(ColorKeeper, a_file_has_its_hue_again_if_it_is_free) {
  KnownHues known({{"b.py", 0}, {"d.py", 3}});
  ColorKeeper keeper;
  keeper.add({"a.py", "b.py"}, known);
  EXPECT_EQ(1U, keeper.hue_of("a.py"));
  EXPECT_EQ(0U, keeper.hue_of("b.py"));
  keeper.add({"c.py", "d.py", "b.py"}, known);
  EXPECT_EQ(3U, keeper.hue_of("d.py"));
  EXPECT_EQ(2U, keeper.hue_of("c.py"));
  keeper.add({"e", "f", "g", "h", "ninth"}, known);
  EXPECT_EQ(8U, keeper.files().size());
  EXPECT_EQ(no_hue, keeper.hue_of("ninth"));
  EXPECT_EQ(no_hue, keeper.hue_of(""));
  EXPECT_EQ(2U, known.hue_of("c.py"));
}

TEST(TraceColors, a_category_has_the_colour_that_is_named_after_it) {
  EXPECT_EQ(Role::parameters, role_from_hue(shade_of_category(Category::parameters)));
  EXPECT_EQ(Role::inputs_outputs, role_from_hue(shade_of_category(Category::inputs)));
  EXPECT_EQ(Role::temporaries, role_from_hue(shade_of_category(Category::temporaries)));
  EXPECT_EQ(several_shade, shade_of_category(Category::unknown));
  const NamesOfBlocks& names = *row_of(HeapColoring::category).names;
  EXPECT_EQ("temporaries", names.name_of_shade(shade_of_category(Category::temporaries)));
}

TEST(TraceColors, steps_are_stacked_with_the_largest_at_the_bottom) {
  EXPECT_EQ((std::vector<Shade>{5, 4, 3, 2, 1, 0, several_shade}), TraceColors().stack_order(HeapColoring::size));
  EXPECT_EQ((std::vector<Shade>{0, 1, 2, 3, 4, 5, 6, 7, several_shade}),
            TraceColors().stack_order(HeapColoring::category));
  EXPECT_EQ((std::vector<Shade>{several_shade}), TraceColors().stack_order(HeapColoring::user_code)) << "no name";
}

}  // namespace
}  // namespace hbmscope::gui
