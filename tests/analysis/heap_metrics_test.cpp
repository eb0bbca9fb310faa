// Cases that tests/trace/report_vs_python.py, which compares the metrics of whole files with Python, can't create:
// heaps with two ends, heaps that disappear, several streams, a pass that is cancelled.
#include "analysis/query/heap_metrics.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "analysis/query/heap_rows.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

using Step = PowerHistogram::Step;
constexpr std::uint32_t heap_metrics_flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;

TEST(PowerHistogram, steps_begin_at_powers_of_two) {
  PowerHistogram histogram;
  for (const std::uint64_t value : {0ULL, 1ULL, 2ULL, 3ULL, 4ULL, 1023ULL, 1024ULL, ~0ULL}) histogram.add(value, 10);
  const std::vector<Step> expected = {{0, 1, 1, 10},      {1, 2, 1, 10},       {2, 4, 2, 20},          {4, 8, 1, 10},
                                      {512, 1024, 1, 10}, {1024, 2048, 1, 10}, {1ULL << 63, {}, 1, 10}};
  EXPECT_EQ(expected, histogram.steps());
  EXPECT_EQ(8U, histogram.count());
}

TEST(LargestFit, each_end_has_its_own_holes_and_the_gap_in_the_middle) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("arena", heap_metrics_flags | wire::heap_flag::has_two_ends);
  built.grow(heap, 0x10000, 0x10000);
  built.alloc(heap, 0x10000, 0x1000);
  built.alloc(heap, 0x11000, 0x3000);  // Becomes a hole of the lower end.
  built.alloc(heap, 0x14000, 0x1000);
  built.alloc(heap, 0x1f000, 0x1000, 0, wire::block_flag::upper_end);
  built.alloc(heap, 0x17000, 0x8000, 0, wire::block_flag::upper_end);  // Becomes a hole of the upper end.
  built.alloc(heap, 0x16000, 0x1000, 0, wire::block_flag::upper_end);
  built.free(heap, 0x11000);
  built.free(heap, 0x17000);
  const auto states = built.states_at();
  const HeapInfo& info = built.trace.streams[0].definitions().heap(heap);
  const LargestFit fit = find_largest_fit(info, states[0]);
  EXPECT_EQ(0x8000U, fit.bytes);
  EXPECT_EQ(0x3000U, fit.lower_end_bytes);
  EXPECT_EQ(0x8000U, fit.upper_end_bytes);
  // Without the block that bounds it, the gap and the hole are one, and the lower end may use it as well.
  built.free(heap, 0x16000);
  const auto later = built.states_at();
  const LargestFit joined = find_largest_fit(info, later[0]);
  EXPECT_EQ(0xa000U, joined.lower_end_bytes);
  EXPECT_EQ(0xa000U, joined.upper_end_bytes);
}

TEST(HeapMetrics, what_lived_before_is_one_high_water_moment_and_of_unknown_age) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", heap_metrics_flags);
  for (std::uint64_t i = 0; i < 4; ++i) built.live(heap, 0x1000 * (i + 1), 0x1000);
  built.alloc(heap, 0x8000, 0x1000);
  built.free(heap, 0x1000);
  built.free(heap, 0x8000);
  const auto states = built.states_at();
  MetricsOptions options;
  options.high_waters_max = 1000;
  const auto metrics = compute_heap_metrics(built.trace, states, options);
  ASSERT_EQ(1U, metrics->size());
  const HeapMetrics& only = metrics->front();
  ASSERT_EQ(2U, only.high_waters.size());
  EXPECT_EQ(0U, only.high_waters[0].position);
  EXPECT_EQ(0x4000U, only.high_waters[0].in_use_bytes);
  EXPECT_EQ(1U, only.peak_so_far.position);
  EXPECT_EQ(0x5000U, only.peak_so_far.in_use_bytes);
  EXPECT_EQ(1U, only.lifetimes.unknown_count);
  EXPECT_EQ(0x1000U, only.lifetimes.unknown_bytes);
  EXPECT_EQ(3U, only.ages.unknown_count);
  const std::vector<Step> two_events = {{2, 4, 1, 0x1000}}, two_us = {{1024, 2048, 1, 0x1000}};
  EXPECT_EQ(two_events, only.lifetimes.by_events.steps());
  EXPECT_EQ(1U, only.lifetimes.by_ns->count());
  EXPECT_DOUBLE_EQ(0x1000 / 3.0, *only.allocated_bytes_per_event);
}

TEST(HeapMetrics, a_step_is_never_smaller_than_asked_nor_are_there_more_moments) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", heap_metrics_flags);
  for (std::uint64_t i = 0; i < 100; ++i) built.alloc(heap, 0x1000 * (i + 1), 100);
  const auto states = built.states_at();
  MetricsOptions options;
  options.high_waters_max = 7;
  const HeapMetrics few = compute_heap_metrics(built.trace, states, options)->front();
  EXPECT_EQ(1429U, few.high_water_step_bytes);
  EXPECT_EQ(6U, few.high_waters.size());
  options.high_water_step_bytes = 4000;
  const HeapMetrics fewer = compute_heap_metrics(built.trace, states, options)->front();
  ASSERT_EQ(2U, fewer.high_waters.size());
  EXPECT_EQ(40U, fewer.high_waters[0].position);
  EXPECT_EQ(80U, fewer.high_waters[1].position);
}

TEST(HeapMetrics, heaps_that_go_take_their_blocks_out_of_all_figures) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("arena", 0), other = built.heap("other", 0);
  // More than the table of times keeps before it looks for dead entries.
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t i = 0; i < 40'000; ++i) built.alloc(heap, 0x1000 * (i + 1), 16);
    wire::HeapGoneRecord gone;
    gone.heap = heap;
    built.writer.add(gone, built.time_ns);
  }
  built.alloc(other, 0x1000, 64);
  built.free(other, 0x1000);
  const auto states = built.states_at();
  const auto metrics = *compute_heap_metrics(built.trace, states);
  EXPECT_EQ(120'000U, metrics[0].allocations);
  EXPECT_EQ(0U, metrics[0].live_sizes.count());
  EXPECT_EQ(640'000U, metrics[0].peak_so_far.in_use_bytes);
  EXPECT_EQ(1U, metrics[1].lifetimes.by_events.count());
  EXPECT_EQ(std::nullopt, metrics[0].fit.bytes);
  EXPECT_EQ(std::nullopt, metrics[0].rounding_waste_bytes);
}

// A handle is live until it is released and no longer mapped, in the addresses of any heap.
TEST(HeapMetrics, handles_are_in_sizes_ages_lifetimes_and_what_was_allocated) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", wire::heap_flag::has_requested), views = built.heap("addresses", 0);
  built.create(heap, 1, 0x1000);         // Event 0.
  built.create(heap, 2, 0x2000);         // 1: stays live.
  built.import(heap, 3, 0x100000);       // 2: counted where it was created.
  built.map(views, 0x10000, 0x1000, 1);  // 3
  built.release(1);                      // 4: is still shown ...
  built.alloc(heap, 0x5000, 0x100);      // 5
  built.unmap(views, 0x10000, 0x1000);   // 6: ... up to here.
  built.release(3);                      // 7
  const auto states = built.states_at();
  const auto metrics = *compute_heap_metrics(built.trace, states);
  const HeapMetrics& only = metrics[0];
  const std::vector<Step> sizes = {{0x100, 0x200, 1, 0x100}, {0x2000, 0x4000, 1, 0x2000}};
  EXPECT_EQ(sizes, only.live_sizes.steps());
  EXPECT_EQ(0x3100U, only.allocated_bytes);
  EXPECT_EQ(3U, only.allocations);
  const std::vector<Step> lived = {{4, 8, 1, 0x1000}}, ages = {{2, 4, 1, 0x100}, {4, 8, 1, 0x2000}};
  EXPECT_EQ(lived, only.lifetimes.by_events.steps());
  EXPECT_EQ(ages, only.ages.by_events.steps());
  EXPECT_EQ(2U, only.ages.by_ns->count());
  EXPECT_EQ(0U, only.lifetimes.unknown_count + only.ages.unknown_count);
  EXPECT_EQ(0U, only.rounding_waste_bytes) << "a handle is as large as it was asked for";
  EXPECT_EQ(0U, metrics[1].allocations + metrics[1].live_sizes.count());
  const HeapRow row = compute_heap_rows(built.trace, states)[0];
  EXPECT_EQ(0x2100U, row.in_use_bytes);
  EXPECT_EQ(0x2100U, row.requested_bytes);
  EXPECT_EQ(0.0, row.internal_fragmentation);
}

// Compared with a model that keeps every handle ever created: reused numbers, handles mapped several times and in
// another heap's addresses, released before and after their mappings are removed.
TEST(HeapMetrics, random_handles_agree_with_a_naive_model) {
  struct Handle {
    std::uint32_t heap = 0;
    std::uint64_t event = 0, size = 0;
    bool is_held = true;
    int mappings = 0;
  };
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder built;
    const std::uint32_t heaps[] = {built.heap("GPU 0", 0), built.heap("GPU 1", 0)};
    std::vector<Handle> all;
    std::map<std::uint64_t, std::size_t> held;                                // By number: place in all.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::size_t> mappings;  // By heap and address.
    PowerHistogram lifetimes[2];
    std::uint64_t allocated[2] = {}, allocations[2] = {};
    const auto end_if_gone = [&](const Handle& handle, std::uint64_t event) {
      if (!handle.is_held && handle.mappings == 0)
        lifetimes[handle.heap == heaps[0] ? 0 : 1].add(event - handle.event, handle.size);
    };
    std::uint64_t event = 0;
    for (; event < 600; ++event) {
      const std::uint32_t heap = heaps[random() % 2];
      const std::uint64_t number = random() % 12, address = 0x100000 * (1 + random() % 10);
      const auto holder = held.find(number);
      const auto mapping = mappings.find({heap, address});
      if (mapping != mappings.end() && random() % 2 == 0) {
        built.unmap(heap, address, 0x1000);
        --all[mapping->second].mappings;
        end_if_gone(all[mapping->second], event);
        mappings.erase(mapping);
      } else if (holder == held.end()) {
        const std::size_t at = heap == heaps[0] ? 0 : 1;
        all.push_back({heap, event, 0x1000 * (1 + random() % 64)});
        built.create(heap, number, all.back().size);
        held[number] = all.size() - 1;
        allocated[at] += all.back().size;
        ++allocations[at];
      } else if (mapping == mappings.end() && random() % 2 == 0) {
        built.map(heap, address, 0x1000, number);
        ++all[holder->second].mappings;
        mappings[{heap, address}] = holder->second;
      } else {
        built.release(number);
        all[holder->second].is_held = false;
        end_if_gone(all[holder->second], event);
        held.erase(holder);
      }
    }
    const auto metrics = *compute_heap_metrics(built.trace, built.states_at());
    for (std::size_t i = 0; i < 2; ++i) {
      PowerHistogram sizes, ages;
      for (const Handle& handle : all) {
        if (handle.heap != heaps[i] || (!handle.is_held && handle.mappings == 0)) continue;
        sizes.add(handle.size, handle.size);
        ages.add(event - handle.event, handle.size);
      }
      EXPECT_EQ(lifetimes[i].steps(), metrics[i].lifetimes.by_events.steps()) << seed;
      EXPECT_EQ(sizes.steps(), metrics[i].live_sizes.steps()) << seed;
      EXPECT_EQ(ages.steps(), metrics[i].ages.by_events.steps()) << seed;
      EXPECT_EQ(allocated[i], metrics[i].allocated_bytes) << seed;
      EXPECT_EQ(allocations[i], metrics[i].allocations) << seed;
    }
  }
}

TEST(HeapMetrics, handles_that_go_with_their_heap_have_no_lifetime) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (std::uint64_t i = 1; i < 40; ++i) built.create(heap, i, 0x1000);
  built.remove(heap);
  const auto states = built.states_at();
  const HeapMetrics only = compute_heap_metrics(built.trace, states)->front();
  EXPECT_EQ(39U, only.allocations);
  EXPECT_EQ(0U, only.live_sizes.count() + only.lifetimes.by_events.count() + only.lifetimes.unknown_count);
}

TEST(HeapMetrics, a_cancelled_pass_has_no_answer_and_progress_ends_at_the_whole) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", heap_metrics_flags);
  for (std::uint64_t i = 0; i < 10; ++i) built.alloc(heap, 0x1000 * (i + 1), 100);
  const auto states = built.states_at();
  PassControl control;
  EXPECT_TRUE(compute_heap_metrics(built.trace, states, {}, &control));
  EXPECT_EQ(10U, control.total_events);
  EXPECT_EQ(10U, control.done_events);
  control.cancelled = true;
  EXPECT_FALSE(compute_heap_metrics(built.trace, states, {}, &control));
}

TEST(EventCounts, sums_have_what_is_missing_and_damaged_too) {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](const wire::SharedBlock& block) { blocks.push_back(block); });
  for (int i = 0; i < 4; ++i) {
    writer.define_string(std::to_string(i));
    writer.flush();
  }
  Trace trace;
  trace.streams.resize(2);
  for (Stream& stream : trace.streams) {
    EXPECT_EQ(std::nullopt, stream.append(blocks[0]));
    EXPECT_EQ(std::nullopt, stream.append(blocks[3]));
    auto damaged = std::make_shared<wire::Block>(*blocks[1]);
    damaged->payload.at(0) ^= 0xff;
    EXPECT_NE(std::nullopt, stream.append(damaged));
  }
  const EventCounts counts = compute_event_counts(trace);
  EXPECT_EQ(2U * 2, counts.missing_blocks);
  EXPECT_EQ(2U, counts.damaged_blocks);
}

}  // namespace
}  // namespace hbmscope
