// The filter expression of a legend entry matches exactly its blocks: a click on it filters.
#include <random>

#include <gtest/gtest.h>

#include "analysis/query/block_list.h"
#include "app/gui/core/heap_shades.h"
#include "app/gui/views/heap_map/legend_filter.h"
#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

// Blocks of all sizes and roundings, allocated before the shown time and freed after it.
class LegendFilter : public testing::Test {
 protected:
  LegendFilter() {
    trace_.region(0, 400 * gib);
    const std::vector<std::string> functions{"", "a", "b", "c \"quoted\"", "d", "e", "f", "g", "h", "i", "j", "k"};
    std::mt19937_64 random(5);
    std::vector<std::uint64_t> live;
    std::uint64_t address = 0;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t size = std::uint64_t{512} << random() % 22;
      const std::uint64_t waste = random() % 3 == 0 ? 0 : size / (std::uint64_t{2} << random() % 9);
      trace_.alloc(address, size, functions[random() % functions.size()], waste);
      live.push_back(address);
      address += size;
      if (i == 2000) trace_.request_free(live.back());
      if (random() % 3 != 0) continue;
      const std::size_t which = random() % live.size();
      if (live[which] == 0 || which + 1 == live.size()) continue;
      trace_.free(live[which]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
    }
    // Another heap, whose blocks are of every size too.
    trace_.add_heap("GPU 1");
    trace_.region(0, 400 * gib);
    for (std::uint64_t i = 0; i < 22; ++i) trace_.alloc(i * 4 * gib, std::uint64_t{512} << i, "a", 100);
    trace_.heap_of(1);
    moment_ = trace_.trace().streams[0].end_position() * 3 / 4;
  }

  void expect_the_same_blocks(HeapColoring coloring) {
    const Trace& trace = trace_.trace();
    const std::vector<StreamState> states{trace.streams[0].state_at(moment_)};
    const auto live = collect_live_rows(trace, states, true);
    ASSERT_TRUE(live);
    ColoringFacts facts;
    facts.live = live->rows;
    const HeapSpans map = compute_heap_spans(trace.streams[0], states[0], 1, coloring, test::colors_of(trace), facts);
    int asked_entries = 0;
    const std::vector<std::string> parts = parts_of_legend(trace, {0, 1}, map);
    for (std::size_t i = 0; i < map.legend.size(); ++i) {
      const ShadeEntry& entry = map.legend[i];
      const std::string& where = parts[i];
      if (where.empty()) continue;
      ++asked_entries;
      const auto list = compute_block_list(trace, states, *live, {where});
      ASSERT_TRUE(list) << where << ": " << list.error().what;
      EXPECT_EQ(entry.bytes, list->bytes) << entry.name << ": " << where;
      EXPECT_EQ(entry.blocks, list->rows.size()) << entry.name << ": " << where;
    }
    EXPECT_GE(asked_entries + 1, static_cast<int>(map.legend.size())) << "one entry may have no words: the rest";
    EXPECT_GT(asked_entries, 1);
  }

  test::SmallTrace trace_;
  std::uint64_t moment_ = 0;
};

TEST_F(LegendFilter, of_sizes) {
  expect_the_same_blocks(HeapColoring::size);
}
TEST_F(LegendFilter, of_user_code) {
  expect_the_same_blocks(HeapColoring::user_code);
}
TEST_F(LegendFilter, of_ages) {
  expect_the_same_blocks(HeapColoring::age);
}
TEST_F(LegendFilter, of_lifetimes) {
  expect_the_same_blocks(HeapColoring::lifetime);
}
TEST_F(LegendFilter, of_rounding) {
  expect_the_same_blocks(HeapColoring::waste);
}
TEST_F(LegendFilter, of_states) {
  expect_the_same_blocks(HeapColoring::state);
}

TEST(LegendParts, come_and_go_and_keep_what_was_typed) {
  const std::vector<std::string> parts{"size<65536", "", "own=\"step  train.py:41\""};
  EXPECT_EQ(parts[0], toggle_part("", parts, parts[0]));
  EXPECT_EQ("", toggle_part(parts[0], parts, parts[0]));
  EXPECT_EQ(parts[2], toggle_part(parts[0], parts, parts[2])) << "one entry at a time";
  const std::string both = toggle_part("adam", parts, parts[0]);
  EXPECT_EQ("(adam) (size<65536)", both);
  EXPECT_TRUE(has_part(both, parts[0]));
  EXPECT_FALSE(has_part(both, parts[1])) << "one without words is never chosen";
  EXPECT_EQ("adam", toggle_part(both, parts, parts[0]));
  EXPECT_EQ("(adam) (own=\"step  train.py:41\")", toggle_part(both, parts, parts[2]));
}

}  // namespace
}  // namespace hbmscope::gui
