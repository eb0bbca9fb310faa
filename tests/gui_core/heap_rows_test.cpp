// Where a heap map's regions, ends and lit blocks lie: rows by region, heaps with two ends, one colour of the legend.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "analysis/query/heap_metrics.h"
#include "app/gui/core/heap_raster.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

HeapSpans row_spans(test::SmallTrace& trace, std::uint32_t heap = 1) {
  return compute_heap_spans(trace.trace().streams[0], trace.state(), heap, HeapColoring::state, {});
}

TEST(HeapRows, each_region_begins_a_row_and_every_address_is_where_its_pixel_says) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    test::SmallTrace trace;
    std::uint64_t at = mib;
    std::vector<AddressRange> regions;
    for (int i = 0; i < 12; ++i) {
      const std::uint64_t size = (1 + random() % 64) * 64 * kib;
      trace.region(at, size);
      trace.alloc(at, size / 2);
      regions.push_back({at, at + size});
      at += size + (1 + random() % 8) * mib;
    }
    const HeapSpans map = row_spans(trace);
    const HeapMapView view{static_cast<int>(20 + random() % 50), 40, 9, 16.0 * kib, 0, MapLayout::by_region};
    const HeapLine line(map, view);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < regions.size(); ++i) {
      EXPECT_EQ(0, line.begin_px(i) % view.width);
      EXPECT_LT(line.begin_px(i) - end, view.width) << "in the next row";
      EXPECT_EQ(line.begin_px(i) + static_cast<std::int64_t>((regions[i].size() + 16 * kib - 1) / (16 * kib)),
                line.end_px(i));
      for (std::int64_t px = end; px < line.begin_px(i); ++px) EXPECT_FALSE(line.address_at(px)) << "the rest of a row";
      for (std::int64_t px = line.begin_px(i); px < line.end_px(i); ++px) {
        const auto address = line.address_at(px);
        ASSERT_TRUE(address && regions[i].contains(*address));
        EXPECT_EQ(px, static_cast<std::int64_t>(line.px_of(*address)));
      }
      end = line.end_px(i);
    }
    EXPECT_EQ(end, line.length_px());
    HeapRaster raster;
    raster.draw(map, view, Theme::dark);
    for (std::size_t i = 0; i < raster.cells().size(); ++i)
      EXPECT_EQ(line.address_at(static_cast<std::int64_t>(i)).has_value(),
                raster.cells()[i].fill != MapCell::Fill::nothing)
          << i;
  }
}

TEST(HeapRows, more_regions_than_rows_go_on_below_and_are_panned_to) {
  test::SmallTrace trace;
  for (std::uint64_t i = 0; i < 100; ++i) trace.region(i * 64 * mib, (2 + i % 2 * 18) * mib);
  const HeapSpans map = row_spans(trace);
  HeapMapView view = fit_heap_map(map, 500, 200, MapLayout::by_region);
  EXPECT_EQ(8, view.pitch);
  EXPECT_NEAR(20.0 * mib, view.bytes_per_px * view.width, 1) << "no row is longer than the largest region needs";
  const HeapLine line(map, view);
  for (std::size_t i = 0; i < map.regions.size(); ++i)
    EXPECT_EQ(static_cast<std::int64_t>(i) * view.width, line.begin_px(i)) << "none reaches into a second row";
  EXPECT_TRUE(goes_on_below(map, view));
  for (int i = 0; i < 100; ++i) view = pan_heap_map(map, view, -view.width);
  EXPECT_FALSE(goes_on_below(map, view));
  EXPECT_EQ(0, view.origin % view.width) << "regions begin at the left still";
  EXPECT_EQ(76, view.origin / view.width) << "25 - 1 rows are whole";
  EXPECT_FALSE(goes_on_below(map, fit_heap_map(map, 500, 2000, MapLayout::by_region)));
  EXPECT_FALSE(goes_on_below(map, fit_heap_map(map, 500, 200)));
}

// Blocks from both ends, in no order that an allocator would give them.
TEST(HeapEnds, largest_for_each_end_is_what_the_metric_says) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    test::SmallTrace trace;
    trace.add_two_ended_heap("two ends");
    trace.region(0, 64 * mib);
    const std::uint64_t middle = random() % 64;
    for (std::uint64_t i = 0; i < 64; ++i) {
      if (random() % 2 == 0) continue;
      const bool is_stray = random() % 16 == 0;
      if ((i > middle) != is_stray)
        trace.alloc_from_above(i * mib, mib);
      else
        trace.alloc(i * mib, mib);
    }
    const HeapSpans map = row_spans(trace, 2);
    const LargestFit fit = find_largest_fit(trace.trace().streams[0].definitions().heap(2), trace.state());
    const auto size_of = [&](const std::optional<std::size_t>& span) { return span ? map.spans[*span].size : 0; };
    EXPECT_EQ(*fit.lower_end_bytes, size_of(map.largest_lower)) << seed;
    EXPECT_EQ(*fit.upper_end_bytes, size_of(map.largest_upper)) << seed;
  }
}

TEST(HeapEnds, hole_of_the_lower_end_has_a_line_at_its_foot_and_of_the_upper_at_its_head) {
  test::SmallTrace trace;
  trace.add_two_ended_heap("two ends");
  trace.region(0, 16 * mib);
  trace.alloc(0, mib);
  trace.alloc(3 * mib, mib);  // 1 to 3: for the lower end.
  trace.alloc_from_above(15 * mib, mib);
  trace.alloc_from_above(11 * mib, mib);  // 12 to 15: for the upper end; 4 to 11: for both.
  const HeapSpans map = row_spans(trace, 2);
  HeapRaster raster;
  const HeapMapView view{16, 1, 11, 1.0 * mib, 0, MapLayout::wrapped};
  const auto& pixels = raster.draw(map, view, Theme::dark);
  const Pixel line = pixel_from_color(color_of(Theme::dark, Role::dim_text));
  const auto is_line = [&](int x, int y) { return pixels[static_cast<std::size_t>(y * 16 + x)] == line; };
  EXPECT_EQ(4 * mib, map.spans[*map.largest_lower].begin);
  EXPECT_EQ(map.largest_lower, map.largest_upper) << "the gap in the middle is the largest for both";
  EXPECT_TRUE(is_line(1, 9) && is_line(2, 9) && !is_line(1, 0));
  EXPECT_TRUE(is_line(13, 0) && !is_line(13, 9));
  EXPECT_TRUE(!is_line(7, 5) && !is_line(0, 9) && !is_line(15, 0)) << "neither the gap nor blocks";
  // A block of the lower end above one of the upper end: the space between them belongs to neither.
  trace.alloc_from_above(5 * mib, mib);
  trace.alloc(8 * mib, mib);
  EXPECT_EQ(SpanEnd::neither, row_spans(trace, 2).find(6 * mib)->ends);
}

TEST(HeapLit, one_colour_of_the_legend_stays_and_the_rest_is_half_as_strong) {
  test::SmallTrace trace;
  trace.region(0, 4 * mib);
  trace.alloc(0, mib);
  trace.alloc(2 * mib, mib);
  const HeapSpans map = row_spans(trace);
  HeapRaster raster;
  const HeapMapView view{64, 1, 11, 64.0 * kib, 0, MapLayout::wrapped};
  const std::vector<AddressRange> lit{{2 * mib, 3 * mib}};
  const Pixel fill = pixel_from_color(color_of_shade(Theme::dark, HeapColoring::state, 0));
  const auto& pixels = raster.draw(map, view, Theme::dark, lit, false);
  EXPECT_EQ(fill, pixels[40]);
  EXPECT_EQ(fill, pixels[32 + 64 * 5 + 4]) << "no contour";
  EXPECT_NE(fill, pixels[8]);
  EXPECT_EQ(std::vector<bool>{false}, raster.hit_rows()) << "nothing was looked for";
}

}  // namespace
}  // namespace hbmscope::gui
