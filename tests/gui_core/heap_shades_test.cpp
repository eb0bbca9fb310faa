// Colours of a heap map that need more than the shown state: the change since a pinned time, lifetimes.
#include "app/gui/core/heap_shades.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/gui/core/heap_raster.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

const ShadeEntry* entry_of(const HeapSpans& map, Shade shade) {
  const auto found =
      std::find_if(map.legend.begin(), map.legend.end(), [&](const ShadeEntry& one) { return one.shade == shade; });
  return found == map.legend.end() ? nullptr : &*found;
}

// 16 MiB: blocks of 1 MiB at 0 and 4; the first is freed, and one of 2 MiB is allocated at 8.
struct Changing {
  Changing() {
    trace.region(0, 16 * mib);
    trace.alloc(0, mib, "gone");
    trace.alloc(4 * mib, mib, "same");
    pinned = trace.trace().streams[0].state_at(3);
    trace.free(0);
    trace.alloc(8 * mib, 2 * mib, "new");
  }
  HeapSpans spans() {
    ColoringFacts facts;
    facts.pinned = &pinned;
    return compute_heap_spans(trace.trace().streams[0], trace.state(), 1, HeapColoring::change, {}, facts);
  }
  test::SmallTrace trace;
  StreamState pinned;
};

TEST(HeapShades, change_reports_new_from_same_and_keeps_the_place_of_what_is_gone) {
  Changing changing;
  const HeapSpans map = changing.spans();
  EXPECT_EQ(change_shade::same, map.find(4 * mib)->shade);
  EXPECT_EQ(change_shade::added, map.find(8 * mib)->shade);
  EXPECT_EQ(SpanKind::free, map.find(0)->kind);
  EXPECT_EQ((std::vector<AddressRange>{{0, mib}}), map.gone);
  ASSERT_NE(nullptr, entry_of(map, change_shade::added));
  EXPECT_EQ(2 * mib, entry_of(map, change_shade::added)->bytes);
  ASSERT_NE(nullptr, entry_of(map, change_shade::gone));
  EXPECT_EQ(mib, entry_of(map, change_shade::gone)->bytes);
  EXPECT_EQ(nullptr, entry_of(map, change_shade::grown)) << "no entry without blocks";
}

TEST(HeapShades, picture_of_the_change_has_gone_as_an_outline_and_new_filled) {
  Changing changing;
  const HeapSpans map = changing.spans();
  HeapRaster raster;
  const HeapMapView view{64, 4, 10, 64.0 * kib, 0};  // A row is 4 MiB, 16 px a MiB.
  const std::vector<Pixel> pixels = raster.draw(map, view, Theme::dark);
  const auto at = [&](int x, int y) { return pixels[static_cast<std::size_t>(y * view.width + x)]; };
  const Pixel gone = pixel_from_color(color_of(Theme::dark, Role::shrunk));
  const Pixel free = pixel_from_color(color_of(Theme::dark, Role::free));
  for (int x = 0; x < 16; ++x) EXPECT_EQ(gone, at(x, 0)) << x;
  EXPECT_EQ(gone, at(0, 4));
  EXPECT_EQ(gone, at(15, 4));
  EXPECT_EQ(free, at(7, 4)) << "an outline: nothing is there any more";
  EXPECT_EQ(free, at(16, 4));
  EXPECT_EQ(pixel_from_color(color_of(Theme::dark, Role::same)), at(7, 14));
  EXPECT_EQ(pixel_from_color(color_of(Theme::dark, Role::grown)), at(7, 24));
}

TEST(HeapShades, lifetime_is_in_steps_of_time_and_unknown_to_the_end) {
  test::SmallTrace trace;  // An event a microsecond.
  trace.region(0, 16 * mib);
  trace.alloc(0, mib, "short");
  trace.alloc(4 * mib, mib, "long");
  trace.alloc(8 * mib, mib, "for ever");
  const StreamState state = trace.trace().streams[0].state_at(4);
  trace.free(0);
  for (int i = 0; i < 3000; ++i) trace.mark("step");
  trace.free(4 * mib);
  const Trace& all = trace.trace();
  auto live = collect_live_rows(all, {state}, true);
  ASSERT_TRUE(live);
  ColoringFacts facts;
  facts.live = live->rows;
  const HeapSpans map = compute_heap_spans(all.streams[0], state, 1, HeapColoring::lifetime, {}, facts);
  EXPECT_EQ(0, map.find(0)->shade) << "3 us";
  EXPECT_EQ(1, map.find(4 * mib)->shade) << "3 ms";
  EXPECT_EQ(several_shade, map.find(8 * mib)->shade) << "nobody knows";
  ASSERT_EQ(3U, map.legend.size());
  EXPECT_EQ("1 to 10 ms", map.legend[1].name);
  EXPECT_TRUE(map.legend[2].name.starts_with("unknown"));
  EXPECT_EQ(color_of(Theme::dark, Role::several), color_of_shade(Theme::dark, HeapColoring::lifetime, several_shade));
}

}  // namespace
}  // namespace hbmscope::gui
