// What a legend's entry says of its blocks in the filter language holds for exactly them: a click on it filters.
#include <random>

#include <gtest/gtest.h>

#include "analysis/query/block_list.h"
#include "app/gui/core/heap_shades.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t kib = 1024, gib = kib * kib * kib;

// Blocks of all sizes and roundings, from before the moment and gone after it.
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
    moment_ = trace_.trace().streams[0].end_position() * 3 / 4;
  }

  void expect_the_same_blocks(HeapColoring coloring) {
    const Trace& trace = trace_.trace();
    const std::vector<StreamState> states{trace.streams[0].state_at(moment_)};
    const auto live = collect_live_rows(trace, states, true);
    ASSERT_TRUE(live);
    ColoringFacts facts;
    facts.live = live->rows;
    const HeapPieces map = compute_heap_pieces(trace.streams[0], states[0], 1, coloring, {}, facts);
    int asked = 0;
    for (const ShadeEntry& entry : map.legend) {
      if (entry.where.empty()) continue;
      ++asked;
      const auto list = compute_block_list(trace, states, *live, {entry.where});
      ASSERT_TRUE(list) << entry.where << ": " << list.error().what;
      EXPECT_EQ(entry.bytes, list->bytes) << entry.name << ": " << entry.where;
      EXPECT_EQ(entry.blocks, list->rows.size()) << entry.name << ": " << entry.where;
    }
    EXPECT_GE(asked + 1, static_cast<int>(map.legend.size())) << "one entry may have no words: the rest";
    EXPECT_GT(asked, 1);
  }

  test::SmallTrace trace_;
  std::uint64_t moment_ = 0;
};

TEST_F(LegendFilter, of_sizes) {
  expect_the_same_blocks(HeapColoring::size);
}
TEST_F(LegendFilter, of_own_code) {
  expect_the_same_blocks(HeapColoring::own_code);
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

}  // namespace
}  // namespace hbmscope::gui
