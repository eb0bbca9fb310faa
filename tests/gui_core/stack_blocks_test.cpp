// The single blocks in the bands of the timeline against a list of the live blocks at each column's time.
#include "app/gui/core/stack_blocks.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

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

// Address of each block that is large enough, by the order in which the bands stack it.
std::vector<std::uint64_t> expected_at(const Trace& trace, const StackQuery& query, std::uint64_t position,
                                       std::uint64_t least) {
  const Stream& stream = trace.streams[0];
  const BlockLabels labels(stream);
  LitShades shades(trace, labels, query);
  const auto order = query.colors->stack_order(query.coloring);
  std::map<std::tuple<std::ptrdiff_t, bool, std::uint64_t>, std::uint64_t> sorted;
  const StreamState state = stream.state_at(position);
  for (const LiveBlock& block : state.slots()) {
    if (block.heap != query.heap.heap || block.size < least) continue;
    const std::uint32_t group = shades.number_of(block);
    const auto band = std::find(order.begin(), order.end(), shades.shade_of(group)) - order.begin();
    sorted[{band, !LitShades::is_lit(group), block.event}] = block.address;
  }
  std::vector<std::uint64_t> addresses;
  for (const auto& [rank, address] : sorted) addresses.push_back(address);
  return addresses;
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
      std::vector<std::uint64_t> addresses;
      std::map<std::pair<Shade, bool>, std::uint64_t> foot;
      for (const PlacedBlock& one : blocks->at(x)) {
        const LiveBlock& block = blocks->blocks()[one.block];
        addresses.push_back(block.address);
        EXPECT_EQ((foot[{one.shade, one.is_lit}]), one.foot);
        foot[{one.shade, one.is_lit}] += block.size;
      }
      for (const auto& [part, bytes] : foot)
        EXPECT_LE(bytes,
                  part.second ? columns[x].lit[part.first] : columns[x].bytes[part.first] - columns[x].lit[part.first]);
      ASSERT_EQ(expected_at(trace, query, columns[x].position, least), addresses) << x;
      seen += addresses.size();
      if (x > 0 && blocks->are_equal(x - 1, x)) {
        const auto before = blocks->at(x - 1), now = blocks->at(x);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), now.begin(), now.end()));
      }
    }
    EXPECT_GT(seen, count);
  }
}
INSTANTIATE_TEST_SUITE_P(Filters, StackBlocksOf, testing::Values("", "size>3KiB", "stack:b"));

}  // namespace
}  // namespace hbmscope::gui
