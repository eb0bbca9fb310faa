#include "app/gui/sources/moment_name.h"

#include <gtest/gtest.h>

#include "app/gui/core/place_text.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

TEST(MomentName, a_position_is_the_same_however_it_came_about) {
  EXPECT_EQ(MomentName("#4"), MomentName(std::string("#4")));
  EXPECT_NE(MomentName("#4"), MomentName("1#4")) << "of a trace with one stream, and of one with several";
  for (const char* text : {"", "end", "peak", "oom", "12.5s", "#4711", "2#4711", "#", "#4x", "0#4", "x#4", "nonsense"})
    EXPECT_EQ(text, MomentName(text).text());
}

TEST(MomentName, a_click_between_two_events_is_kept_but_is_no_word) {
  Trace trace;
  trace.streams.emplace_back();
  const MomentName clicked(trace, 0, 4711, 123'456);
  EXPECT_EQ(123'456, clicked.clicked_at());
  EXPECT_EQ("#4711", clicked.text());
  EXPECT_EQ(std::nullopt, MomentName(trace, 0, 4711).clicked_at());
  EXPECT_EQ(std::nullopt, MomentName("peak").clicked_at());
}

TEST(MomentName, a_click_between_two_events_is_that_time_in_all_streams) {
  Trace trace;
  for (const std::uint64_t blocks : {2, 9}) {  // They end at 2 µs and at 9 µs.
    test::SmallTrace made;
    made.region(0, 1 << 20);
    for (std::uint64_t i = 0; i < blocks; ++i) made.alloc(i * 512, 512);
    trace.streams.push_back(made.trace().streams[0].version());
  }
  const auto at_event = MomentName(trace, 0, 3).find_in(trace), clicked = MomentName(trace, 0, 3, 6'000).find_in(trace);
  ASSERT_TRUE(at_event && clicked);
  EXPECT_EQ((std::vector<std::uint64_t>{3, 3}), at_event->positions);
  EXPECT_EQ((std::vector<std::uint64_t>{3, 7}), clicked->positions) << "not where the clicked stream's last event was";
  EXPECT_EQ(6'000, clicked->since_start_ns);
}

TEST(MomentName, none_and_end_are_the_end) {
  EXPECT_TRUE(MomentName().is_end());
  EXPECT_TRUE(MomentName("end").is_end());
  EXPECT_FALSE(MomentName("end").empty());
  EXPECT_FALSE(MomentName("#0").is_end());
  MomentName name("peak");
  name.clear();
  EXPECT_TRUE(name.empty());
}

TEST(PlaceText, an_address_may_name_its_heap_and_nonsense_is_no_place) {
  ASSERT_TRUE(parse_place("0x7f00"));
  EXPECT_EQ(0x7f00U, parse_place("0x7f00")->address);
  EXPECT_FALSE(parse_place("0x7f00")->heap);
  ASSERT_TRUE(parse_place("2:7/0x10"));
  EXPECT_EQ((HeapKey{1, 7}), parse_place("2:7/0x10")->heap);
  EXPECT_EQ(0x10U, parse_place("2:7/0x10")->address);
  for (const char* text : {"", "0x", "train", "1:2/", "1:2/0xg"}) EXPECT_FALSE(parse_place(text)) << text;
}

}  // namespace
}  // namespace hbmscope::gui
