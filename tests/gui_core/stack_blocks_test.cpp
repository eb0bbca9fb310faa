// The single blocks in the bands of the timeline against a list of the live blocks at each column's time.
#include "app/gui/core/stack_blocks.h"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "analysis/query/block_history.h"
#include "analysis/query/event_times.h"
#include "analysis/query/trace_user_code.h"
#include "app/gui/core/lit_shades.h"
#include "app/gui/core/timeline_columns.h"
#include "tests/gui_core/colors_of.h"
#include "tests/gui_core/small_trace.h"

namespace hbmscope::gui {
namespace {

constexpr std::uint64_t place_size = 4096;

// Random allocations and frees, beside a heap that doesn't matter.
void fill_two_heaps(test::SmallTrace& trace, unsigned seed, int events) {
  std::mt19937 random(seed);
  trace.region(0, 60 * place_size);
  trace.add_heap("other");
  trace.heap_of(2);
  trace.region(1 << 30, place_size);
  std::vector<bool> is_live(60, false);
  for (int i = 0; i < events; ++i) {
    const std::uint64_t place = random() % 60;
    trace.heap_of(1);
    if (is_live[place])
      trace.free(place * place_size);
    else
      trace.alloc(place * place_size, 1 + random() % place_size, std::string(1, static_cast<char>('a' + random() % 4)));
    is_live[place] = !is_live[place];
    if (i % 50 != 0) continue;
    trace.heap_of(2);
    trace.alloc(1 << 30, 100);
    trace.free(1 << 30);
  }
}

using Places = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

// Address and size of each block that is large enough, in the order in which the bands stack it.
Places expected_at(const Trace& trace, const StackQuery& query, std::uint64_t position, std::uint64_t least) {
  const Stream& stream = trace.streams[0];
  const BlockLabels labels(stream);
  LitShades shades(trace, labels, query);
  const auto order = query.colors->stack_order(query.coloring);
  std::map<std::tuple<std::ptrdiff_t, bool, std::uint64_t, std::uint64_t>, std::uint64_t> sorted;
  const StreamState state = stream.state_at(position);
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != query.heap.heap || block.size < least) continue;
    const std::uint32_t group = shades.number_of(block);
    const auto band = std::find(order.begin(), order.end(), shades.shade_of(group)) - order.begin();
    const std::uint64_t age = block.event == wire::before_the_stream ? 0 : block.event + 1;
    sorted[{band, !LitShades::is_lit(group), age, block.address}] = block.size;
  }
  Places places;
  for (const auto& [rank, size] : sorted) places.emplace_back(std::get<3>(rank), size);
  return places;
}

class StackBlocksOf : public testing::TestWithParam<const char*> {};

TEST_P(StackBlocksOf, a_column_lists_the_blocks_of_its_time_in_the_order_of_the_bands) {
  test::SmallTrace made;
  fill_two_heaps(made, 21, 900);
  const Trace& trace = made.trace();
  const StackQuery query{
      {0, 1}, HeapColoring::user_code, std::make_shared<const TraceColors>(test::colors_of(trace)), GetParam()};
  constexpr std::uint64_t least = 1500;
  constexpr std::size_t count = 200;
  const TimelineSpan whole = whole_span_of(trace.streams[0]);
  for (const TimelineSpan span : {whole, TimelineSpan{whole.end / 3, whole.end / 2}}) {
    auto course = StackCourse::compute(trace, query, nullptr, nullptr);
    ASSERT_TRUE(course);
    const auto shared = std::make_shared<const StackCourse>(std::move(*course));
    const auto blocks = StackBlocks::compute(trace, {shared, span, count, least}, nullptr);
    ASSERT_TRUE(blocks);
    const auto columns = shared->columns(span, count);
    std::size_t seen = 0;
    for (std::size_t x = 0; x < count; ++x) {
      Places places;
      std::map<std::pair<Shade, bool>, std::uint64_t> depth;
      for (const PlacedBlock& one : blocks->at(x))
        places.emplace_back(blocks->blocks()[one.block].address, blocks->blocks()[one.block].size);
      for (std::size_t i = blocks->at(x).size(); i-- > 0;) {  // From the top.
        const PlacedBlock& one = blocks->at(x)[i];
        std::uint64_t& sum = depth[{one.shade, one.is_lit}];
        sum += blocks->blocks()[one.block].size;
        EXPECT_EQ(sum, one.depth);
      }
      for (const auto& [part, bytes] : depth)
        EXPECT_LE(bytes,
                  part.second ? columns[x].lit[part.first] : columns[x].bytes[part.first] - columns[x].lit[part.first]);
      ASSERT_EQ(expected_at(trace, query, columns[x].position, least), places) << x;
      seen += places.size();
      if (x > 0 && blocks->are_equal(x - 1, x)) {
        const auto before = blocks->at(x - 1), now = blocks->at(x);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin(), now.end()));
      }
    }
    EXPECT_GT(seen, count);
    std::size_t freed = 0, searched = 0;
    for (std::uint32_t i = 0; i < blocks->blocks().size(); ++i) {
      const LiveBlock& block = blocks->blocks()[i];
      const auto history = compute_address_history(trace.streams[0], 1, {block.address, block.address + 1}, 0);
      ASSERT_TRUE(history);
      const auto row = std::find_if(history->rows.begin(), history->rows.end(),
                                    [&](const HeldRow& one) { return one.event == block.event; });
      ASSERT_NE(history->rows.end(), row);
      const bool ends = row->how == HeldEnd::freed && row->end_event < columns.back().position;
      freed += ends ? 1 : 0;
      const auto end = ends ? std::optional(StackBlocks::End{row->end_event, *row->end_ns}) : std::nullopt;
      EXPECT_EQ(end, blocks->end_of(i)) << i;
      const auto found = find_free(trace.streams[0], block.slot, std::max(columns[0].position, block.event),
                                   columns.back().position, 10'000);
      if (ends || !found) continue;
      const auto later = row->how == HeldEnd::freed ? std::optional(row->end_event) : std::nullopt;
      EXPECT_EQ(later, found->event) << i;
      ++searched;
    }
    EXPECT_GT(freed, blocks->blocks().size() / 2);
    EXPECT_GT(searched, 0U);
  }
}
INSTANTIATE_TEST_SUITE_P(Filters, StackBlocksOf, testing::Values("", "size>3KiB", "stack:b"));

// A listing numbers slots anew: what was there before the stream is known by its address and size.
TEST(StackBlocksOfAListing, blocks_that_were_there_before_are_told_apart) {
  test::SmallTrace made;
  made.list(0, 60 * place_size, {{0, 4096}, {8192, 14000}, {20480, 24000}});
  made.alloc(40960, 4000, "a");
  made.free(8192);
  made.list(0, 60 * place_size, {{0, 2048}, {20480, 24000}, {28672, 32000}});
  made.alloc(49152, 4000, "b");
  const Trace& trace = made.trace();
  const StackQuery query{{0, 1}, HeapColoring::size, std::make_shared<const TraceColors>(test::colors_of(trace)), ""};
  auto course = StackCourse::compute(trace, query, nullptr, nullptr);
  const auto shared = std::make_shared<const StackCourse>(std::move(*course));
  const TimelineSpan whole = whole_span_of(trace.streams[0]);
  constexpr std::size_t count = 64;
  const auto blocks = StackBlocks::compute(trace, {shared, whole, count, 1000}, nullptr);
  const auto columns = shared->columns(whole, count);
  std::set<Places> states;
  for (std::size_t x = 0; x < count; ++x) {
    Places places;
    for (const PlacedBlock& one : blocks->at(x))
      places.emplace_back(blocks->blocks()[one.block].address, blocks->blocks()[one.block].size);
    std::sort(places.begin(), places.end());
    Places expected = expected_at(trace, query, columns[x].position, 1000);
    std::sort(expected.begin(), expected.end());
    ASSERT_EQ(expected, places) << x;
    states.insert(places);
  }
  EXPECT_GE(states.size(), 3U);
}

}  // namespace
}  // namespace hbmscope::gui
