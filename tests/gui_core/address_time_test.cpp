#include "app/gui/core/address_time.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t page = 1024;
constexpr int pages = 16;

AddressTime picture_of(const Trace& trace, TimelineSpan span, int width, int height,
                       HeapColoring coloring = HeapColoring::user_code) {
  auto picture =
      compute_address_time(trace.streams[0], {{0, 1}, span, width, height, coloring}, test::colors_of(trace), nullptr);
  EXPECT_TRUE(picture.has_value());
  return std::move(*picture);
}

// One pixel per page and per microsecond, which is one event: each pixel shows the blocks that were live there after
// that event.
TEST(AddressTime, every_pixel_is_what_lived_there_then) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    test::SmallTrace made;
    made.region(0x10000, pages / 2 * page);
    made.region(0x90000, pages / 2 * page);
    std::map<std::uint64_t, std::uint64_t> live;
    for (int event = 0; event < 150; ++event) {
      const std::uint64_t number = random() % pages;
      const std::uint64_t address =
          (number < pages / 2 ? 0x10000 + number * page : 0x90000 + (number - pages / 2) * page);
      if (live.erase(address) > 0) {
        made.free(address);
      } else {
        made.alloc(address, page, "f" + std::to_string(number % 3));
        live[address] = page;
      }
    }
    const Stream& stream = made.trace().streams[0];
    const TimelineSpan whole = whole_span_of(stream);
    const auto microseconds = static_cast<int>(whole.length() / 1000);
    for (const TimelineSpan span : {TimelineSpan{}, TimelineSpan{40'000, 110'000}}) {
      const int width = span.empty() ? microseconds : 70;
      AddressTime picture = picture_of(made.trace(), span, width, pages + 1);
      int occupied = 0;
      const std::int64_t begin_us = span.empty() ? 0 : span.begin / 1000;
      for (int x = 0; x < width; ++x) {
        const StreamState state =
            stream.state_at(stream.position_of_time(stream.first_time_ns() + (begin_us + x) * 1000));
        for (int y = 0; y < pages + 1; ++y) {
          const BoxCell& cell = picture.cells[static_cast<std::size_t>(y * width + x)];
          const auto address = picture.axis.address_at(y + 0.5);
          if (!address) {
            EXPECT_EQ(0, cell.quarters);
            continue;
          }
          const auto chunk = state.heap(1).space.find(*address);
          EXPECT_EQ(chunk && chunk->state == ChunkState::block ? 4 : 0, cell.quarters) << x << ' ' << y;
          EXPECT_EQ(chunk.has_value(), cell.has_memory) << x << ' ' << y;
          occupied += cell.quarters > 0 ? 1 : 0;
        }
      }
      EXPECT_LT(width * pages / 4, occupied);
    }
  }
}

TEST(AddressTime, largest_byte_time_gets_the_first_hue_and_the_legend_names_it) {
  test::SmallTrace made;
  made.region(0, 8 * page);
  made.alloc(0, page, "small");
  made.alloc(page, 4 * page, "large");
  for (int i = 0; i < 20; ++i) {
    made.alloc(6 * page, page, "often");
    made.free(6 * page);
  }
  const AddressTime picture = picture_of(made.trace(), {}, 40, 8);
  ASSERT_EQ(3U, picture.legend.size());
  EXPECT_TRUE(picture.legend[0].name.starts_with("large")) << picture.legend[0].name;
  EXPECT_EQ(0, picture.legend[0].shade);
  EXPECT_NEAR(4 * page, static_cast<double>(picture.legend[0].bytes), page) << "on average, from its allocation on";
  EXPECT_EQ(20U, picture.legend[1].name.starts_with("often") ? picture.legend[1].blocks : picture.legend[2].blocks);
  EXPECT_TRUE(picture.legend[2].name.starts_with("often") || picture.legend[1].name.starts_with("often"));
  EXPECT_EQ(22U, picture.boxes);
  const AddressTime by_size = picture_of(made.trace(), {}, 40, 8, HeapColoring::size);
  ASSERT_EQ(1U, by_size.legend.size());
  EXPECT_EQ("under 64 KiB", by_size.legend[0].name);
}

TEST(AddressTime, without_regions_blocks_say_where_memory_is) {
  test::SmallTrace made(false);
  made.alloc(0x100000, 4 * page);
  made.alloc(std::uint64_t{1} << 40, 4 * page);
  made.free(0x100000);
  const AddressTime picture = picture_of(made.trace(), {}, 2, 8);
  EXPECT_FALSE(picture.knows_regions);
  EXPECT_EQ(2U, picture.axis.regions().size());
  EXPECT_EQ(4, picture.cells[0].quarters);
  EXPECT_EQ(4, picture.cells[7 * 2 + 1].quarters);
}

TEST(AddressTime, a_coloring_of_one_time_is_never_used) {
  TraceColors colors;
  colors.automatic = HeapColoring::size;
  for (const HeapColoring of_a_moment : {HeapColoring::age, HeapColoring::lifetime, HeapColoring::change})
    EXPECT_EQ(HeapColoring::size, box_coloring(of_a_moment, colors));
  EXPECT_EQ(HeapColoring::tag, box_coloring(HeapColoring::tag, colors));
}

TEST(AddressTime, zoomed_shows_some_of_the_addresses_as_large_as_all_of_them_before) {
  test::SmallTrace made;
  made.region(0x100000, 64 * page);
  made.region(0x900000, 64 * page);
  made.alloc(0x900000 + 60 * page, 4 * page);
  made.alloc(0x100000, page);
  const Stream& stream = made.trace().streams[0];
  const AddressTime all = picture_of(made.trace(), {}, 8, 131);  // A pixel a page, and a notch of three.
  ASSERT_EQ(2U, all.axis.regions().size());
  const AddressRange near = zoom_addresses(all, {}, 4, 1);
  EXPECT_EQ(0x900000 + 64 * page, near.end) << "what lies at the foot stays there";
  EXPECT_NEAR(32.75 * page, static_cast<double>(near.size()), page);
  AddressTimeQuery query{{0, 1}, {}, 8, 131, HeapColoring::user_code, near};
  const auto zoomed = compute_address_time(stream, query, {}, nullptr);
  ASSERT_TRUE(zoomed);
  ASSERT_EQ(1U, zoomed->axis.regions().size());
  EXPECT_EQ(near.begin, zoomed->axis.regions()[0].begin);
  EXPECT_EQ(2U, zoomed->whole.regions().size());
  EXPECT_EQ(4, zoomed->cells.back().quarters);
  int occupied = 0;
  for (int y = 0; y < 131; ++y) occupied += zoomed->cells[static_cast<std::size_t>(y * 8 + 7)].quarters > 0 ? 1 : 0;
  EXPECT_NEAR(16, occupied, 1) << "four pages, each four times as high";
  EXPECT_EQ(near.begin - 8 * page, pan_addresses(*zoomed, near, -8 / 32.75).begin);
  EXPECT_TRUE(zoom_addresses(*zoomed, near, 0.1, 0.5).empty()) << "all of it";
  EXPECT_LE(16U * 131, zoom_addresses(*zoomed, near, 1e12, 1).size()) << "not nearer than the heap map";
}

TEST(AddressTime, cancelled_gives_nothing) {
  test::SmallTrace made;
  made.region(0, page);
  made.alloc(0, page);
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(
      compute_address_time(made.trace().streams[0], {{0, 1}, {}, 8, 8, HeapColoring::user_code}, {}, &control));
}

}  // namespace
}  // namespace hbmscope::gui
