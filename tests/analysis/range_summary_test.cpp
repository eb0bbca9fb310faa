#include "analysis/query/range_summary.h"

#include <map>
#include <random>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t range_heap_flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;

RangeSummary summary_of(TraceBuilder& builder, const std::string& from, const std::string& to) {
  const auto before = builder.states_at(from), after = builder.states_at(to);
  const auto summary = compute_range_summary(builder.trace, before, after);
  EXPECT_TRUE(summary);
  return *summary;
}

TEST(RangeSummary, counts_what_came_went_and_survived) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", range_heap_flags);
  const std::uint32_t leak = builder.stack("main;leak"), step = builder.stack("main;step");
  builder.live(heap, 9000, 100, step);
  builder.grow(heap, 0, 10'000);         // 1
  builder.alloc(heap, 0, 1000, step);    // 2
  builder.alloc(heap, 1000, 200, leak);  // 3
  builder.free(heap, 0);                 // 4
  builder.alloc(heap, 0, 400, step);     // 5
  builder.free(heap, 0);                 // 6
  builder.alloc(heap, 5000, 300, leak);  // 7
  const RangeSummary summary = summary_of(builder, "#2", "#7");
  EXPECT_EQ((BlockSum{3, 900}), summary.total.allocated);
  EXPECT_EQ((BlockSum{2, 1400}), summary.total.freed);
  EXPECT_EQ((BlockSum{1, 1000}), summary.freed_older);
  EXPECT_EQ((BlockSum{2, 500}), summary.total.survived);
  EXPECT_EQ(-500, summary.in_use_delta_bytes);
  EXPECT_EQ(0, summary.other_delta_bytes);
  ASSERT_EQ(2U, summary.user_code.size());
  EXPECT_EQ("leak", summary.user_code[0].function);
  EXPECT_EQ((BlockSum{2, 500}), summary.user_code[0].sums.survived);
  EXPECT_EQ(-1000, summary.user_code[1].sums.net_bytes());
  ASSERT_EQ(2U, summary.stacks.size());
  EXPECT_EQ(step, summary.stacks[0].stack) << "by absolute net bytes";
  ASSERT_EQ(1U, summary.heaps_before.size());
  EXPECT_EQ(9000U, *summary.heaps_before[0].largest_free_bytes) << "what lived before came before the region";
  EXPECT_EQ(1100U, summary.heaps_before[0].in_use_bytes);
  EXPECT_EQ(600U, summary.heaps_after[0].in_use_bytes);
}

TEST(RangeSummary, of_one_heap_leaves_the_others_out) {
  TraceBuilder builder;
  const std::uint32_t one = builder.heap("GPU 0", range_heap_flags), other = builder.heap("GPU 1", range_heap_flags);
  builder.grow(one, 0, 10'000);
  builder.grow(other, 20'000, 10'000);
  builder.alloc(one, 0, 1000);
  builder.alloc(other, 20'000, 300);
  builder.free(one, 0);
  const auto before = builder.states_at("start"), after = builder.states_at("end");
  const auto summary = compute_range_summary(builder.trace, before, after, nullptr, HeapKey{0, other});
  ASSERT_TRUE(summary);
  EXPECT_EQ((BlockSum{1, 300}), summary->total.allocated);
  EXPECT_EQ((BlockSum{}), summary->total.freed);
  EXPECT_EQ(300, summary->in_use_delta_bytes);
  EXPECT_EQ(2U, summary->heaps_after.size()) << "the rows are of all";
}

TEST(RangeSummary, whole_trace_and_no_time_at_all) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", range_heap_flags);
  builder.live(heap, 9000, 100);
  builder.grow(heap, 0, 10'000);
  builder.alloc(heap, 0, 1000);
  const RangeSummary all = summary_of(builder, "start", "end");
  EXPECT_EQ((BlockSum{1, 1000}), all.total.survived) << "what lived before is no survivor";
  const RangeSummary none = summary_of(builder, "end", "end");
  EXPECT_EQ((RangeSums{}), none.total);
  EXPECT_TRUE(none.stacks.empty());
}

TEST(RangeSummary, range_that_ends_before_it_begins_is_refused) {
  TraceBuilder builder;
  builder.alloc(builder.heap("GPU 0", range_heap_flags), 0, 10);
  builder.states_at();
  EXPECT_TRUE(find_range(builder.trace, "start", "end"));
  const auto turned = find_range(builder.trace, "end", "start");
  ASSERT_FALSE(turned);
  EXPECT_NE(std::string::npos, turned.error().text().find("ends before it begins")) << turned.error().text();
  EXPECT_FALSE(find_range(builder.trace, "nonsense", "end"));
}

TEST(RangeSummary, cancelled_pass_has_no_answer) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", range_heap_flags);
  for (std::uint64_t i = 0; i < 10; ++i) builder.alloc(heap, i * 100, 100);
  const auto before = builder.states_at("start"), after = builder.states_at("end");
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(compute_range_summary(builder.trace, before, after, &control));
}

// What the naive version stores about each block that ever existed.
struct Life {
  std::uint64_t size = 0, born = 0, died = 0;
  std::uint32_t stack = 0;
};

struct RandomTrace {
  TraceBuilder builder;
  std::vector<Life> lives;
  std::uint64_t events = 0;

  explicit RandomTrace(std::uint32_t seed) {
    std::mt19937 random(seed);
    const std::uint32_t heap = builder.heap("GPU 0", range_heap_flags);
    std::vector<std::uint32_t> stacks;
    for (int i = 0; i < 7; ++i) stacks.push_back(builder.stack("main;f" + std::to_string(i)));
    std::map<std::uint64_t, std::size_t> live;  // By address, the life.
    constexpr std::uint64_t slot = 1 << 20;
    builder.grow(heap, 0, 200 * slot);
    events = 1;
    for (int i = 0; i < 3000; ++i) {
      const std::uint64_t address = random() % 200 * slot;
      if (const auto found = live.find(address); found != live.end()) {
        builder.free(heap, address);
        lives[found->second].died = events;
        live.erase(found);
      } else {
        const Life life{1 + random() % slot, events, ~std::uint64_t{0}, stacks[random() % stacks.size()]};
        builder.alloc(heap, address, life.size, life.stack);
        live[address] = lives.size();
        lives.push_back(life);
      }
      ++events;
    }
  }

  std::map<std::uint32_t, RangeSums> naive(std::uint64_t from, std::uint64_t to) const {
    std::map<std::uint32_t, RangeSums> sums;
    for (const Life& life : lives) {
      const bool is_born = life.born >= from && life.born < to, has_died = life.died >= from && life.died < to;
      if (!is_born && !has_died) continue;
      RangeSums& sum = sums[life.stack];
      if (is_born) sum.allocated.add(life.size);
      if (has_died) sum.freed.add(life.size);
      if (is_born && life.died >= to) sum.survived.add(life.size);
    }
    return sums;
  }
};

TEST(RangeSummary, is_the_same_as_the_naive_one_on_random_streams) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    RandomTrace trace(seed);
    std::mt19937 random(seed * 77);
    for (int round = 0; round < 8; ++round) {
      std::uint64_t from = random() % (trace.events + 1), to = random() % (trace.events + 1);
      if (from > to) std::swap(from, to);
      const RangeSummary summary = summary_of(trace.builder, "#" + std::to_string(from), "#" + std::to_string(to));
      std::map<std::uint32_t, RangeSums> sums;
      for (const RangeStackRow& row : summary.stacks) sums[row.stack] = row.sums;
      ASSERT_EQ(trace.naive(from, to), sums) << "seed " << seed << " from " << from << " to " << to;
      ASSERT_EQ(0, summary.other_delta_bytes);
    }
  }
}

}  // namespace
}  // namespace hbmscope
