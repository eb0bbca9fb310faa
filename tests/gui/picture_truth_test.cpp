// The window's pixels, read back: a map of a known heap on the screen, in both themes.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "app/gui/core/answers.h"
#include "app/gui/core/heap_line.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/platform/screenshot.h"
#include "app/gui/platform/window_loop.h"
#include "tests/gui/gui_test.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::test {
namespace {

using namespace gui;

class PictureTruth : public GuiTest {
 protected:
  // Of 100 MiB, 50 belong to one function and 20 to another; 10 MiB between two blocks of the latter and 20 at the end
  // are free.
  std::string write_trace() {
    SmallTrace trace;
    trace.region(0, 100 * mib);
    trace.alloc(0, 50 * mib, "large");
    trace.alloc(50 * mib, 10 * mib, "small");
    trace.alloc(70 * mib, 10 * mib, "small");
    trace.write(path("known.hbm"));
    return path("known.hbm");
  }
};

struct Screen {
  const Picture& picture;
  ImVec2 origin;
  HeapMapView view;

  Color at(std::int64_t cell, int up) const {
    const auto x = static_cast<std::int64_t>(origin.x) + cell % view.width;
    const auto y = static_cast<std::int64_t>(origin.y) + cell / view.width * view.pitch + view.pitch - 2 - up;
    const std::uint8_t* const rgb = picture.rgb.data() + static_cast<std::size_t>((y * picture.width + x) * 3);
    return {rgb[0], rgb[1], rgb[2]};
  }
};

TEST_F(PictureTruth, heap_map_on_the_screen_is_the_heap_in_the_colors_of_the_legend) {
  const std::string file = write_trace();
  for (const Theme theme : {Theme::dark, Theme::light}) {
    ImRect rect;
    run([&](ImGuiTestContext& hand) {
      open(hand, {file});
      commands().push(command::set_theme, theme);
      commands().push(CommandId::go_to_end);
      ASSERT_TRUE(wait_until_idle(hand));
      rect = hand.ItemInfo("//Heap map/**/pieces").RectFull;
    });
    const Picture picture = settled_picture();
    const HeapSpans& map = state().answers().heap_map.value->spans;
    const Screen screen{picture, rect.Min,
                        fit_heap_map(map, static_cast<int>(rect.GetWidth()), static_cast<int>(rect.GetHeight()))};
    const HeapLine line(map, screen.view.bytes_per_px);
    const Color free = color_of(theme, Role::free), outline = color_of(theme, Role::largest_free);
    ASSERT_EQ(2U, map.legend.size());
    for (const HeapSpan& span : map.spans) {
      const Color expected = span.kind == SpanKind::free ? free : color_of_shade(theme, map.coloring, span.shade);
      const bool is_largest = &span == &map.spans[*map.largest_free];
      const auto begin = static_cast<std::int64_t>(std::ceil(line.px_of(span.begin))),
                 end = static_cast<std::int64_t>(std::floor(line.px_of_end(span.end())));
      ASSERT_NEAR(static_cast<double>(span.size) / screen.view.bytes_per_px, static_cast<double>(end - begin), 2);
      int right = 0, outlined = 0, seen = 0;
      for (std::int64_t cell = begin; cell < end; ++cell)
        for (int up = 0; up + 1 < screen.view.pitch; ++up) {
          ++seen;
          right += screen.at(cell, up) == expected;
          outlined += screen.at(cell, up) == outline;
        }
      // Names, flags and a block's edge lie over some of it.
      EXPECT_GT(right, seen * 6 / 10) << "at " << span.begin;
      if (is_largest) {
        EXPECT_GT(outlined, 0);
        EXPECT_NE(outline, screen.at(begin - 1, 3)) << "not before it";
        EXPECT_EQ(outline, screen.at(begin, 3)) << "its begin";
        EXPECT_EQ(outline, screen.at(end - 1, 3)) << "its end";
      }
    }
  }
}

TEST_F(PictureTruth, window_at_rest_draws_nothing) {
  const std::string file = write_trace();
  run([&](ImGuiTestContext& hand) { open(hand, {file}); });
  settled_picture();
  WindowLoop loop(session());
  using Clock = std::chrono::steady_clock;
  const auto run_for = [&](std::chrono::milliseconds time) {
    const std::uint64_t before = loop.frames();
    for (const auto end = Clock::now() + time; Clock::now() < end;) loop.run_once(std::chrono::milliseconds(20));
    return loop.frames() - before;
  };
  EXPECT_GE(run_for(FramePacer::afterglow + std::chrono::seconds(1)), 3U) << "a new loop begins with a picture";
  EXPECT_EQ(0U, run_for(std::chrono::seconds(1)));
  commands().push(CommandId::toggle_theme);
  EXPECT_GE(run_for(std::chrono::seconds(1)), 3U);
}

}  // namespace
}  // namespace hbmscope::test
