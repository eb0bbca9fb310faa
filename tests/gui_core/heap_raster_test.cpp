// Maps of known heaps, read back pixel by pixel, and every cell of random heaps compared with a slow and obvious count.
#include "app/gui/core/heap_raster.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

Pixel role(Role role) {
  return pixel_from_color(color_of(Theme::dark, role));
}

HeapSpans spans_of(test::SmallTrace& trace, HeapColoring coloring = HeapColoring::user_code) {
  return compute_heap_spans(trace.trace().streams[0], trace.state(), 1, coloring, test::colors_of(trace.trace()));
}

struct Picture {
  Picture(const HeapSpans& map, const HeapMapView& wanted) : view(wanted) {
    HeapRaster raster;
    pixels = raster.draw(map, view, Theme::dark);
    cells = raster.cells();
  }
  // `y` from the top of the row.
  Pixel at(std::int64_t cell, int y) const {
    const auto row = cell / view.width, x = cell % view.width;
    return pixels.at(static_cast<std::size_t>((row * view.pitch + y) * view.width + x));
  }
  int count(std::int64_t cell, Pixel color) const {
    int count = 0;
    for (int y = 0; y + 1 < view.pitch; ++y) count += at(cell, y) == color;
    return count;
  }

  HeapMapView view;
  std::vector<Pixel> pixels;
  std::vector<MapCell> cells;
};

// Blocks and free spans of `unit` bytes times 1 to `most`, side by side, until the region is full.
void fill_randomly(test::SmallTrace& trace, std::uint32_t seed, std::uint64_t region, std::uint64_t unit,
                   std::uint64_t most) {
  trace.region(4 * mib, region);
  std::mt19937 random(seed);
  const auto names = std::to_array<std::string>({"a", "b", "c"});
  for (std::uint64_t at = 0; at < region;) {
    const std::uint64_t size = std::min(region - at, unit * (1 + random() % most));
    const std::uint64_t waste = random() % 4 == 0 ? size / 8 : 0;
    if (random() % 3 != 0) trace.alloc(4 * mib + at, size, names[random() % names.size()], waste);
    at += size;
  }
}

// What a cell is made of, counted over all spans.
struct Naive {
  double in_use = 0, free = 0;
  std::vector<const HeapSpan*> spans;
  std::vector<double> shares;
};
Naive count_cell(const HeapSpans& map, std::uint64_t begin, std::uint64_t end) {
  Naive naive;
  for (const HeapSpan& span : map.spans) {
    const AddressRange part = AddressRange{span.begin, span.end()}.intersection({begin, end});
    if (part.empty()) continue;
    naive.spans.push_back(&span);
    naive.shares.push_back(static_cast<double>(part.size()));
    (span.kind == SpanKind::block ? naive.in_use : naive.free) += static_cast<double>(part.size());
  }
  return naive;
}

TEST(HeapRaster, cells_of_random_heaps_are_as_counted) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const std::uint64_t unit = seed % 2 == 0 ? 512 : 96;
    test::SmallTrace trace;
    fill_randomly(trace, seed, mib, unit, seed % 5 == 0 ? 3 : 60);
    HeapSpans map = spans_of(trace);
    map.largest_free.reset();  // Its outline would be in the way.
    const HeapMapView view{128, 8, 12, 1024, 0};
    const Picture picture(map, view);
    const int height = view.pitch - 1;
    for (std::int64_t cell = 0; cell < 1024; ++cell) {
      const std::uint64_t begin = 4 * mib + static_cast<std::uint64_t>(cell) * 1024;
      const Naive naive = count_cell(map, begin, begin + 1024);
      const int free = picture.count(cell, role(Role::free));
      const MapCell& drawn = picture.cells[static_cast<std::size_t>(cell)];
      const HeapSpan* only = naive.spans.size() == 1 ? naive.spans[0] : nullptr;
      const bool both_go_on =
          naive.spans.size() == 2 && naive.spans[0]->begin < begin && naive.spans[1]->end() > begin + 1024;
      if (both_go_on && naive.shares[0] != naive.shares[1])
        only = naive.shares[0] > naive.shares[1] ? naive.spans[0] : naive.spans[1];
      if (both_go_on && naive.shares[0] == naive.shares[1])
        only = naive.spans[0]->kind == SpanKind::free ? naive.spans[0] : naive.spans[1];
      SCOPED_TRACE(testing::Message() << "seed " << seed << " cell " << cell << " pieces " << naive.spans.size());
      if (only != nullptr) {
        ASSERT_EQ(only->kind == SpanKind::free, drawn.use + drawn.waste == 0);
        if (only->kind == SpanKind::free) {
          ASSERT_EQ(height, free);
        } else {
          ASSERT_EQ(height, drawn.use + drawn.waste);
        }
        continue;
      }
      const double expected = naive.in_use / 1024 * height;
      ASSERT_NEAR(expected, drawn.use + drawn.waste, 1.01) << "heights are by bytes";
      ASSERT_TRUE(naive.in_use == 0 || drawn.use >= 1) << "anything in use has a pixel";
      ASSERT_TRUE(naive.free < 0.05 * 1024 || drawn.use + drawn.waste < height) << "free of 5 % has a pixel";
      ASSERT_TRUE(drawn.waste > 0 || height - drawn.use == free);
    }
  }
}

TEST(HeapCells, are_the_same_in_bands_of_rows) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    test::SmallTrace trace;
    fill_randomly(trace, seed, mib, seed % 2 == 0 ? 512 : 96, seed % 5 == 0 ? 3 : 60);
    const HeapSpans map = spans_of(trace);
    const HeapMapView view{37, 24, 12, 1024, 41};
    const HeapLine line(map, view);
    std::vector<MapCell> whole(std::size_t{37} * 24), in_bands(whole.size());
    draw_map_cells(whole, map, line, view, 0, view.rows);
    for (int row = 0; row < view.rows; ++row) draw_map_cells(in_bands, map, line, view, row, row + 1);
    ASSERT_EQ(whole, in_bands) << "seed " << seed;
  }
}

TEST(HeapRaster, free_range_of_a_pixel_is_never_lost) {
  for (std::uint32_t seed = 100; seed < 160; ++seed) {
    test::SmallTrace trace;
    fill_randomly(trace, seed, 4 * mib, 700, 12);
    HeapSpans map = spans_of(trace);
    map.largest_free.reset();
    const HeapMapView view{256, 4, 9, 4096, 0};
    const Picture picture(map, view);
    const HeapLine line(map, view.bytes_per_px);
    int seen = 0;
    for (const HeapSpan& span : map.spans) {
      if (span.kind != SpanKind::free || static_cast<double>(span.size) < view.bytes_per_px) continue;
      ++seen;
      int most = 0;
      const auto end = static_cast<std::int64_t>(std::ceil(line.px_of_end(span.end())));
      for (auto cell = static_cast<std::int64_t>(line.px_of(span.begin)); cell < end; ++cell)
        most = std::max(most, picture.count(cell, role(Role::free)));
      ASSERT_GE(most, (view.pitch - 1) / 2 - 1) << "seed " << seed << " at " << span.begin;
    }
    ASSERT_GT(seen, 5);
  }
}

TEST(HeapRaster, colors_and_proportions_are_those_of_the_legend) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 50 * mib, "large");
  trace.alloc(50 * mib, 20 * mib, "small");
  const HeapSpans map = spans_of(trace);
  ASSERT_EQ(2U, map.legend.size());
  EXPECT_EQ("large  train.py:10", map.legend[0].name);
  EXPECT_EQ(50 * mib, map.legend[0].bytes);
  const HeapMapView view{100, 10, 10, 100.0 * mib / 1000, 0};
  const Picture picture(map, view);
  std::array<int, 3> pixels{};
  for (std::int64_t cell = 0; cell < 1000; ++cell) {
    pixels[0] +=
        picture.at(cell, 5) == pixel_from_color(color_of_shade(Theme::dark, map.coloring, map.legend[0].shade));
    pixels[1] +=
        picture.at(cell, 5) == pixel_from_color(color_of_shade(Theme::dark, map.coloring, map.legend[1].shade));
    pixels[2] += picture.at(cell, 5) == role(Role::free) || picture.at(cell, 5) == role(Role::largest_free);
  }
  // One pixel of each block is its darker edge.
  EXPECT_EQ((std::array<int, 3>{499, 199, 300}), pixels);
}

TEST(HeapRaster, dust_is_a_skyline_and_not_a_surface) {
  test::SmallTrace trace;
  trace.region(0, mib);
  for (std::uint64_t at = 0; at < mib; at += 512) trace.alloc(at, 256, "dust");
  HeapSpans map = spans_of(trace);
  map.largest_free.reset();
  const Picture picture(map, {64, 4, 11, 4096, 0});
  for (std::int64_t cell = 1; cell < 256; ++cell) {
    ASSERT_EQ(5, picture.count(cell, role(Role::free))) << cell;
    ASSERT_EQ(role(Role::free), picture.at(cell, 0)) << "free is on top";
    ASSERT_EQ(role(Role::parameters), picture.at(cell, 9)) << "in use stands on the foot";
  }
}

TEST(HeapRaster, largest_free_is_outlined_where_it_is) {
  test::SmallTrace trace;
  trace.region(0, 1000 * kib);
  trace.alloc(0, 250 * kib, "before");
  trace.alloc(280 * kib, 100 * kib, "between");
  trace.alloc(600 * kib, 400 * kib, "after");
  const HeapSpans map = spans_of(trace);
  const HeapMapView view{100, 10, 12, 1024, 0};
  const Picture picture(map, view);
  const Pixel outline = role(Role::largest_free);
  int outlined = 0;
  for (std::int64_t cell = 0; cell < 1000; ++cell) {
    const int count = picture.count(cell, outline);
    if (cell < 380 || cell >= 600) {
      ASSERT_EQ(0, count) << cell;
      continue;
    }
    ++outlined;
    const bool has_above = cell - 100 >= 380, has_below = cell + 100 < 600;
    const bool is_end = cell < 382 || cell >= 598;
    ASSERT_EQ(is_end ? 11 : (has_above ? 0 : 2) + (has_below ? 0 : 2), count) << cell;
  }
  EXPECT_EQ(220, outlined);
}

TEST(HeapRaster, largest_free_of_less_than_a_pixel_is_still_seen) {
  test::SmallTrace trace;
  trace.region(0, 100 * mib);
  trace.alloc(0, 50 * mib, "before");
  trace.alloc(50 * mib + 512, 50 * mib - 512, "after");
  const HeapSpans map = spans_of(trace);
  const Picture picture(map, {100, 10, 12, 100.0 * mib / 1000, 0});
  for (std::int64_t cell = 500; cell < 503; ++cell) EXPECT_EQ(11, picture.count(cell, role(Role::largest_free)));
}

TEST(HeapRaster, nothing_crosses_the_notch_between_regions) {
  test::SmallTrace trace;
  for (std::uint64_t i = 0; i < 4; ++i) {
    trace.region(i * 64 * mib, 2 * mib);
    trace.alloc(i * 64 * mib, 2 * mib, "full");
  }
  const HeapSpans map = spans_of(trace);
  const HeapLine line(map, 32 * 1024);
  EXPECT_EQ(3, line.notch_px());
  EXPECT_EQ(4 * 64 + 3 * 3, line.length_px());
  const Picture picture(map, {100, 3, 9, 32 * 1024, 0});
  for (std::int64_t cell = 64; cell < 67; ++cell) {
    EXPECT_FALSE(line.address_at(cell));
    EXPECT_EQ(0, picture.count(cell, role(Role::parameters)));
    EXPECT_EQ(0, picture.count(cell, role(Role::free)));
  }
  EXPECT_EQ(std::optional<std::size_t>(1), line.region_after_notch(65));
  EXPECT_EQ(8, picture.count(67, pixel_from_color(mix(color_of(Theme::dark, Role::parameters), {0, 0, 0}, 0.45))))
      << "a block's begin has a darker edge";
  EXPECT_EQ(0, picture.count(270, role(Role::free))) << "behind the last region lies no memory";
}

TEST(HeapRaster, pending_is_striped_and_waste_is_hatched) {
  test::SmallTrace trace;
  trace.region(0, 1000 * kib);
  trace.alloc(0, 100 * kib, "whole");
  trace.alloc(100 * kib, 100 * kib, "whole", 40 * kib);
  trace.alloc(200 * kib, 100 * kib, "whole");
  trace.request_free(200 * kib);
  const HeapSpans map = spans_of(trace);
  const Picture picture(map, {100, 10, 13, 1024, 0});
  EXPECT_EQ(12, picture.count(50, role(Role::parameters)));
  EXPECT_EQ(12, picture.count(150, role(Role::parameters)));
  int hatched = 0;
  for (std::int64_t cell = 160; cell < 200; ++cell) hatched += picture.count(cell, role(Role::free));
  EXPECT_NEAR(hatched, 40 * 12 * 2 / 5, 10) << "two pixels of five";
  EXPECT_EQ(6, picture.count(250, role(Role::free))) << "every other two lines";
}

TEST(HeapRaster, unknown_memory_is_never_drawn_as_free) {
  test::SmallTrace trace(false);
  trace.alloc(0, 100 * kib, "a");
  trace.alloc(300 * kib, 100 * kib, "b");
  trace.alloc(1024 * mib, 100 * kib, "far");
  const HeapSpans map = spans_of(trace);
  ASSERT_EQ(2U, map.regions.size());
  EXPECT_FALSE(map.largest_free);
  ASSERT_EQ(SpanKind::not_identified, map.spans[1].kind);
  const Picture picture(map, {100, 6, 13, 1024, 0});
  EXPECT_EQ(8, picture.count(200, role(Role::not_identified)));
}

TEST(HeapLine, fit_shows_all_in_rows_of_a_power_of_two) {
  test::SmallTrace trace;
  trace.region(0, std::uint64_t{60} << 30);
  const HeapSpans map = spans_of(trace);
  const HeapMapView view = fit_heap_map(map, 1240, 560);
  EXPECT_EQ(60, view.rows);
  EXPECT_EQ(9, view.pitch);
  EXPECT_DOUBLE_EQ(static_cast<double>(std::uint64_t{1} << 30), view.bytes_per_px * view.width);
}

// One large region and many small ones, as a job leaves them whose pool grew for days.
HeapSpans many_regions(std::size_t count) {
  HeapSpans map;
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t size = i == count / 2 ? 1024 * mib : (2 + i % 10 * 2) * mib;
    map.regions.push_back({{at, at + size}, i, i + 1});
    map.spans.push_back({at, size});
    map.region_bytes += size;
    at += size + 2 * mib;
  }
  make_places(map, {});
  return map;
}

TEST(HeapLine, any_number_of_regions_fits_a_picture_of_any_size) {
  for (const std::size_t count : {1, 31, 6'000, 200'000}) {
    const HeapSpans map = many_regions(count);
    for (const auto& [width, height] : {std::pair{1, 1}, {16, 8}, {300, 40}, {3840, 2000}})
      for (const MapLayout layout : {MapLayout::wrapped, MapLayout::by_region, MapLayout::strip}) {
        SCOPED_TRACE(testing::Message() << count << " regions, " << width << "x" << height << ", "
                                        << text_from_map_layout(layout));
        const HeapMapView view = fit_heap_map(map, width, height, layout);
        ASSERT_GE(view.rows, 1);
        EXPECT_LE(view.height(), std::max(height, view.pitch));
        const double pixels = static_cast<double>(view.width) * view.rows;
        const HeapLine line(map, view);
        // What can't all be seen at once goes on, at a scale at which the pixels have the bytes that they stand for.
        if (layout != MapLayout::by_region) {
          EXPECT_LE(static_cast<double>(line.length_px()) * view.bytes_per_px,
                    3 * static_cast<double>(map.region_bytes) + 2 * pixels * view.bytes_per_px);
        }
        const double room = static_cast<double>(width) * std::max(1, height / 8);
        if (layout == MapLayout::wrapped && static_cast<double>(count) * 2 <= room) {
          EXPECT_FALSE(goes_on_below(map, view));
        }
        HeapRaster raster;
        raster.draw(map, view, Theme::dark);
        HeapMapView end = pan_heap_map(map, view, -line.length_px());
        EXPECT_FALSE(goes_on_below(map, end)) << "the end can be panned to";
        raster.draw(map, end, Theme::dark);
        const HeapMapView near = zoom_heap_map(map, view, height, 4, width / 2, 0);
        EXPECT_EQ(view, zoom_heap_map(map, near, height, 0.001, 0, 0));
      }
  }
}

TEST(HeapLine, address_under_the_pointer_stays_there) {
  test::SmallTrace trace;
  fill_randomly(trace, 7, 64 * mib, 4096, 100);
  const HeapSpans map = spans_of(trace);
  HeapMapView view = fit_heap_map(map, 800, 400);
  const int x = 333, y = 210;
  const auto under = [&](const HeapMapView& of) {
    return HeapLine(map, of.bytes_per_px).address_at(of.origin + std::int64_t{y / of.pitch} * of.width + x);
  };
  auto before = under(view);
  ASSERT_TRUE(before);
  for (int notch = 0; notch < 20; ++notch) {
    const double scale_before = view.bytes_per_px;
    view = zoom_heap_map(map, view, 400, 1.25, x, y);
    EXPECT_LT(view.bytes_per_px, scale_before);
    const auto now = under(view);
    ASSERT_TRUE(now);
    ASSERT_NEAR(static_cast<double>(*now), static_cast<double>(*before), scale_before) << "notch " << notch;
    before = now;
  }
  for (int notch = 0; notch < 40; ++notch) view = zoom_heap_map(map, view, 400, 0.8, x, y);
  EXPECT_EQ(fit_heap_map(map, 800, 400), view) << "far out is Fit";
}

TEST(HeapRaster, what_was_found_keeps_its_colour_and_the_rest_is_dimmed) {
  test::SmallTrace trace;
  trace.region(0, 1000 * 256);
  trace.alloc(0, 100 * 256);
  trace.alloc(500 * 256, 100 * 256);
  trace.alloc(900 * 256, 1);
  const HeapSpans map = compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::size, {});
  HeapMapView view;
  view.width = 100;
  view.rows = 10;
  view.pitch = 9;
  view.bytes_per_px = 256;
  HeapRaster raster;
  const std::vector<Pixel> plain = raster.draw(map, view, Theme::dark);
  const std::vector<AddressRange> hits{{500 * 256, 600 * 256}, {900 * 256, 900 * 256 + 1}};
  const std::vector<Pixel> found = raster.draw(map, view, Theme::dark, hits);
  const auto at = [&](const std::vector<Pixel>& pixels, int row, int x, int y) {
    return pixels[static_cast<std::size_t>((row * view.pitch + y) * view.width + x)];
  };
  const std::vector<Pixel> none = raster.draw(map, view, Theme::dark, {}, true, true);
  EXPECT_NE(at(plain, 5, 50, 4), at(none, 5, 50, 4)) << "nothing was found";
  EXPECT_NE(at(plain, 0, 50, 4), at(none, 0, 50, 4));
  raster.draw(map, view, Theme::dark, hits);
  const Pixel contour = pixel_from_color(color_of(Theme::dark, Role::selection));
  EXPECT_EQ(at(plain, 5, 50, 4), at(found, 5, 50, 4)) << "inside of a hit";
  EXPECT_EQ(contour, at(found, 5, 50, 0));
  EXPECT_NE(at(plain, 0, 50, 4), at(found, 0, 50, 4)) << "another block";
  // A block of one byte is 3 px wide.
  for (int x = 0; x < 3; ++x) EXPECT_EQ(contour, at(found, 9, x, 0)) << x;
  EXPECT_NE(contour, at(found, 9, 3, 0));
  const std::vector<bool> rows = raster.hit_rows();
  for (std::size_t row = 0; row < rows.size(); ++row) EXPECT_EQ(row == 5 || row == 9, rows[row]) << row;
}

}  // namespace
}  // namespace hbmscope::gui
