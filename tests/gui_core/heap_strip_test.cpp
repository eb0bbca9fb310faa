// The heap map as a strip: every pixel compared with a count over all spans, and a view that is a range of addresses.
#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "app/gui/core/heap_raster.h"
#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t first_address = 4 * mib;

// Regions with holes between them, filled with blocks and free memory of up to 100 units.
void fill_regions(test::SmallTrace& trace, std::mt19937& random, int regions, std::uint64_t unit) {
  std::uint64_t at = first_address;
  for (int i = 0; i < regions; ++i) {
    const std::uint64_t size = (1 + random() % 16) * 64 * kib;
    trace.region(at, size);
    for (std::uint64_t inside = 0; inside < size;) {
      const std::uint64_t span = std::min(size - inside, unit * (1 + random() % 100));
      if (random() % 3 != 0) trace.alloc(at + inside, span, random() % 2 == 0 ? "a" : "b");
      inside += span;
    }
    at += size + (1 + random() % 8) * mib;
  }
}

HeapSpans strip_spans(test::SmallTrace& trace) {
  HeapSpans map = compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::user_code,
                                     test::colors_of(trace.trace()));
  map.largest_free.reset();  // Its outline would be in the way.
  return map;
}

// The pixels of one column, from the bottom, by the rules at the top of heap_raster.h.
std::vector<Pixel> column_as_counted(const HeapSpans& map, const HeapLine& line, const HeapMapView& view,
                                     std::int64_t px) {
  const int height = view.pitch - 1;
  const Pixel free = pixel_from_color(color_of(Theme::dark, Role::free));
  std::vector<const HeapSpan*> here;
  std::vector<double> shares;
  std::array<double, shade_count> by_shade{};
  double in_use = 0;
  for (const HeapSpan& span : map.spans) {
    const double begin = line.px_of(span.begin), end = line.px_of_end(span.end());
    const double share = std::min(end, static_cast<double>(px + 1)) - std::max(begin, static_cast<double>(px));
    if (share <= 1e-9) continue;
    here.push_back(&span);
    shares.push_back(share);
    if (span.kind != SpanKind::block) continue;
    in_use += share;
    by_shade[span.shade] += share;
  }
  std::vector<Pixel> column(static_cast<std::size_t>(height), free);
  if (here.empty()) return {};
  const HeapSpan* only = here.size() == 1 ? here[0] : nullptr;
  if (here.size() == 2 && line.px_of(here[0]->begin) < static_cast<double>(px) &&
      line.px_of_end(here[1]->end()) > static_cast<double>(px + 1)) {
    only = shares[0] > shares[1] ? here[0] : here[1];
    if (shares[0] == shares[1] && here[0]->kind == SpanKind::free) only = here[0];
  }
  if (only != nullptr) {
    if (only->kind == SpanKind::free) return column;
    // Its first pixel is an edge if at least four are its own.
    const auto whole_begin = static_cast<std::int64_t>(std::ceil(line.px_of(only->begin) - 1e-9)),
               whole_end = static_cast<std::int64_t>(line.px_of_end(only->end()) + 1e-9);
    const bool is_edge = px == whole_begin && std::min(whole_end, view.origin + view.width) - px >= 4;
    const Color fill = color_of_shade(Theme::dark, map.coloring, only->shade);
    std::fill(column.begin(), column.end(), pixel_from_color(is_edge ? mix(fill, {0, 0, 0}, 0.45) : fill));
    return column;
  }
  if (in_use <= 0) return column;
  double all = 0;
  for (const double share : shares) all += share;
  int used = std::max(1, static_cast<int>(std::lround(in_use / all * height)));
  if (all - in_use >= 0.05 * all) used = std::min(used, height - 1);
  Shade shade = 0;
  while (shade < shade_count && by_shade[shade] < in_use / 2 - 1e-6) ++shade;
  const Pixel ink =
      pixel_from_color(color_of_shade(Theme::dark, map.coloring, shade < shade_count ? shade : several_shade));
  std::fill(column.begin(), column.begin() + used, ink);
  return column;
}

TEST(HeapStrip, every_pixel_is_as_counted_over_all_spans) {
  for (std::uint32_t seed = 0; seed < 16; ++seed) {
    std::mt19937 random(seed);
    test::SmallTrace trace;
    fill_regions(trace, random, 1 + static_cast<int>(seed % 4), seed % 2 == 0 ? 512 : 96);
    const HeapSpans map = strip_spans(trace);
    HeapMapView view = fit_heap_map(map, 300, seed % 2 == 0 ? 40 : 700, MapLayout::strip);
    for (int zoomed = 0; zoomed < 6; ++zoomed) {
      HeapRaster raster;
      const std::vector<Pixel> pixels = raster.draw(map, view, Theme::dark);
      const HeapLine line(map, view);
      ASSERT_EQ(pixels.size(), static_cast<std::size_t>(view.width * view.pitch));
      for (int x = 0; x < view.width; ++x) {
        const std::vector<Pixel> expected = column_as_counted(map, line, view, view.origin + x);
        SCOPED_TRACE(testing::Message() << "seed " << seed << " zoomed " << zoomed << " x " << x);
        EXPECT_EQ(expected.empty(), raster.cells()[static_cast<std::size_t>(x)].fill == MapCell::Fill::nothing);
        for (int up = 0; up < static_cast<int>(expected.size()); ++up)
          ASSERT_EQ(expected[static_cast<std::size_t>(up)],
                    pixels[static_cast<std::size_t>((view.pitch - 2 - up) * view.width + x)])
              << "up " << up;
      }
      view = zoom_heap_map(map, view, 40, 3, static_cast<int>(random() % 300), 0);
    }
  }
}

TEST(HeapStrip, fit_shows_all_and_the_address_under_the_pointer_stays) {
  std::mt19937 random(3);
  test::SmallTrace trace;
  fill_regions(trace, random, 5, 512);
  const HeapSpans map = strip_spans(trace);
  const HeapMapView fit = fit_heap_map(map, 700, 100, MapLayout::strip);
  EXPECT_EQ(1, fit.rows);
  EXPECT_EQ(100, fit.pitch);
  EXPECT_EQ(800, fit_heap_map(map, 700, strip_height_in(1200), MapLayout::strip).pitch) << "most of a high room";
  EXPECT_EQ(480, strip_height_in(600));
  EXPECT_EQ(350, strip_height_in(350)) << "and all of a low one";
  EXPECT_LE(HeapLine(map, fit).length_px(), fit.width);
  EXPECT_GT(HeapLine(map, fit).length_px(), fit.width * 9 / 10);
  EXPECT_TRUE(addresses_of_strip(map, fit).empty());
  HeapMapView view = fit;
  constexpr int x = 333;
  const auto before = HeapLine(map, view).address_at(view.origin + x);
  ASSERT_TRUE(before);
  for (int notch = 0; notch < 30; ++notch) {
    view = zoom_heap_map(map, view, 100, 1.25, x, 0, before);
    const auto now = HeapLine(map, view).address_at(view.origin + x);
    ASSERT_TRUE(now);
    EXPECT_NEAR(static_cast<double>(*now), static_cast<double>(*before), view.bytes_per_px) << "notch " << notch;
  }
  for (int notch = 0; notch < 60; ++notch) view = zoom_heap_map(map, view, 100, 0.8, x, 0);
  EXPECT_EQ(view, fit);
}

TEST(HeapStrip, view_is_a_range_of_addresses_and_stays_when_the_heap_grows) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    test::SmallTrace trace;
    fill_regions(trace, random, 6, 512);
    const HeapSpans map = strip_spans(trace);
    const HeapMapView fit = fit_heap_map(map, 700, 100, MapLayout::strip);
    const HeapMapView view =
        zoom_heap_map(map, fit, 100, 2 + static_cast<double>(random() % 40), static_cast<int>(random() % 700), 0);
    if (view == fit) continue;
    const AddressRange shown = addresses_of_strip(map, view);
    ASSERT_FALSE(shown.empty());
    const auto near = [&](std::uint64_t address) { return static_cast<double>(address); };
    const HeapMapView again = strip_of_addresses(map, 700, 100, shown);
    EXPECT_NEAR(again.bytes_per_px, view.bytes_per_px, view.bytes_per_px * 0.02) << seed;
    EXPECT_NEAR(near(addresses_of_strip(map, again).begin), near(shown.begin), 8 * view.bytes_per_px) << seed;

    trace.region(first_address - 2 * mib, 512 * kib);  // Everything moves on the line,
    const HeapSpans grown = strip_spans(trace);
    const HeapMapView later = strip_of_addresses(grown, 700, 100, shown);
    EXPECT_NEAR(near(addresses_of_strip(grown, later).begin), near(shown.begin), 8 * view.bytes_per_px)
        << "but not in the picture";
  }
}

// A pool that grows below and above what it has.
void grow(test::SmallTrace& trace) {
  trace.region(200 * mib, 64 * mib);
  trace.alloc(200 * mib, 40 * mib, "kept");
  trace.region(400 * mib, 32 * mib);
  trace.alloc(400 * mib, 8 * mib, "a");
  trace.region(100 * mib, 64 * mib);
  trace.alloc(100 * mib, 64 * mib, "b");
  trace.region(600 * mib, 800 * mib);
}

TEST(HeapPlaces, scale_and_places_are_the_same_at_all_times) {
  test::SmallTrace trace;
  grow(trace);
  const Stream& stream = trace.trace().streams[0];
  const HeapExtent extent = compute_heap_extent(stream, 1);
  EXPECT_EQ(4U, extent.ranges.size());
  EXPECT_EQ(960 * mib, extent.pool_bytes);
  std::optional<HeapMapView> first;
  std::int64_t place = 0;
  for (std::uint64_t position = 1; position <= stream.end_position(); ++position) {
    const StreamState state = stream.state_at(position);
    const HeapSpans map = compute_heap_spans(stream, state, 1, HeapColoring::size, {}, {}, &extent);
    for (const MapLayout layout : {MapLayout::wrapped, MapLayout::by_region, MapLayout::strip}) {
      const HeapMapView view = fit_heap_map(map, 500, 300, layout);
      const HeapLine line(map, view);
      if (layout == MapLayout::wrapped && !first) {
        first = view;
        place = std::lround(line.px_of(220 * mib));
      }
      if (layout == MapLayout::wrapped) {
        EXPECT_EQ(*first, view) << position;
        EXPECT_EQ(place, std::lround(line.px_of(220 * mib))) << position;
      }
      // Where no memory is yet, its place is empty.
      EXPECT_EQ(position >= 7, line.address_at(std::lround(line.px_of(700 * mib))).has_value()) << position;
      EXPECT_NEAR(700.0 * mib, static_cast<double>(line.address_of_place(std::lround(line.px_of(700 * mib)))),
                  view.bytes_per_px);
    }
    HeapRaster raster;
    raster.draw(map, *first, Theme::dark);
    const auto empty = static_cast<std::size_t>(HeapLine(map, *first).px_of(700 * mib));
    EXPECT_EQ(position < 7, raster.cells()[empty].fill == MapCell::Fill::nothing) << position;
  }
  const StreamState early = stream.state_at(2);
  const HeapSpans alone = compute_heap_spans(stream, early, 1, HeapColoring::size, {});
  EXPECT_NE(*first, fit_heap_map(alone, 500, 300)) << "without the extent the scale follows the time";
}

TEST(HeapPlaces, a_map_of_holes_is_avoided_and_the_scale_stays) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  trace.alloc(0, mib, "a");
  HeapExtent extent = compute_heap_extent(trace.trace().streams[0], 1);
  EXPECT_EQ(1U, extent.ranges.size());
  extent.ranges.clear();  // As if the memory was taken at other addresses again and again.
  extent.pool_bytes = 1024 * mib;
  const HeapSpans map =
      compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::size, {}, {}, &extent);
  EXPECT_EQ(64 * mib, map.place_bytes);
  const HeapMapView view = fit_heap_map(map, 512, 160);
  EXPECT_GE(view.bytes_per_px * view.width * (160.0 / view.pitch), 1024.0 * mib) << "room for the largest pool";
}

TEST(HeapPlaces, without_reported_regions_the_areas_at_the_peak_are_the_places) {
  test::SmallTrace trace(false);
  trace.alloc(0, 4 * mib, "a");
  trace.alloc(1024 * mib, 64 * mib, "b");
  trace.free(1024 * mib);
  const HeapExtent extent = compute_heap_extent(trace.trace().streams[0], 1);
  const HeapSpans map =
      compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::size, {}, {}, &extent);
  EXPECT_EQ(1U, map.regions.size());
  EXPECT_EQ((std::vector<AddressRange>{{0, 4 * mib}, {1024 * mib, 1088 * mib}}), map.places);
}

TEST(HeapPlaces, many_regions_in_the_place_of_a_large_one_never_make_the_line_longer) {
  test::SmallTrace trace;
  trace.region(0, 64 * mib);
  HeapExtent extent = compute_heap_extent(trace.trace().streams[0], 1);
  test::SmallTrace later;
  for (std::uint64_t i = 0; i < 8192; ++i) later.region(i * 8 * kib, 4 * kib);
  const HeapSpans map =
      compute_heap_spans(later.trace().streams[0], later.state(), 1, HeapColoring::size, {}, {}, &extent);
  EXPECT_EQ(8192U, map.regions.size());
  for (const MapLayout layout : {MapLayout::wrapped, MapLayout::by_region, MapLayout::strip}) {
    const HeapMapView view = fit_heap_map(map, 40, 30, layout);
    EXPECT_LE(HeapLine(map, view).length_px(), static_cast<std::int64_t>(view.width) * view.rows);
  }
}

TEST(HeapPlaces, sides_of_different_size_have_one_scale) {
  test::SmallTrace small, large;
  small.region(0, 100 * mib);
  large.region(0, 3000 * mib);
  const auto spans = [](test::SmallTrace& trace) {
    return compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::size, {});
  };
  const HeapSpans a = spans(small), b = spans(large);
  for (const MapLayout layout : {MapLayout::wrapped, MapLayout::strip}) {
    const HeapMapView wide = fit_heap_map(b, 400, 200, layout);
    ASSERT_NE(wide.bytes_per_px, fit_heap_map(a, 400, 200, layout).bytes_per_px);
    const FitBeside beside{wide.bytes_per_px * wide.width, wide.rows};
    const HeapMapView fit = fit_heap_map(a, 400, 200, layout, beside);
    EXPECT_DOUBLE_EQ(wide.bytes_per_px, fit.bytes_per_px);
    EXPECT_EQ(wide.pitch, fit.pitch);
    EXPECT_DOUBLE_EQ(wide.bytes_per_px, fit_heap_map(b, 400, 200, layout, beside).bytes_per_px);
  }
}

TEST(HeapPlaces, zooming_in_rows_leads_into_a_strip_with_the_address_where_it_was) {
  test::SmallTrace trace;
  grow(trace);
  const HeapSpans map = strip_spans(trace);
  EXPECT_EQ(MapLayout::wrapped, shown_layout(MapLayout::automatic, map.places.size(), false));
  EXPECT_EQ(MapLayout::strip, shown_layout(MapLayout::automatic, map.places.size(), true));
  EXPECT_EQ(MapLayout::strip, shown_layout(MapLayout::automatic, 21, false));
  EXPECT_EQ(MapLayout::wrapped, shown_layout(MapLayout::wrapped, 21, true));
  const HeapMapView rows = fit_heap_map(map, 500, 200);
  const std::int64_t px = std::lround(HeapLine(map, rows).px_of(900 * mib));
  const int x = static_cast<int>(px % rows.width);
  const AddressRange seen = strip_of_rows(map, rows, 520, 200, 1.25, px, x);
  const HeapMapView strip = strip_of_addresses(map, 520, 200, seen);
  EXPECT_NEAR(rows.bytes_per_px / 1.25, strip.bytes_per_px, rows.bytes_per_px * 0.01);
  EXPECT_NEAR(x, HeapLine(map, strip).px_of(900 * mib) - static_cast<double>(strip.origin), 3);
}

}  // namespace
}  // namespace hbmscope::gui
