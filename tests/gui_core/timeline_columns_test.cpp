// The data of the timeline's picture, compared with one state for every event.
#include "app/gui/core/timeline_columns.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "tests/analysis/trace_builder.h"
#include "tests/gui_core/small_trace.h"
#include "tests/sizes.h"

namespace hbmscope::gui {
namespace {

TimelineColumns columns_of(const Stream& stream, TimelineSpan span, std::size_t count, TimelineEffort effort) {
  const std::atomic<bool> cancelled = false;
  auto made = compute_timeline_columns(stream, {0, 1}, span, count, effort, cancelled);
  EXPECT_TRUE(made);
  return std::move(*made);
}

TEST(TimelineColumns, every_extreme_is_in_its_column) {
  test::SmallTrace trace;
  trace.region(0, 1000 * mib);
  for (std::uint64_t i = 0; i < 500; ++i) {
    trace.alloc(0, (1 + i % 90) * mib, "step");
    trace.free(0);
  }
  trace.run_out_of_memory(2000 * mib);
  trace.alloc(100 * mib, 7 * mib);
  const Stream& stream = trace.trace().streams[0];
  const TimelineColumns timeline = columns_of(stream, {}, 100, TimelineEffort::exact);
  ASSERT_EQ(100U, timeline.columns.size());
  EXPECT_TRUE(timeline.has_times);
  EXPECT_TRUE(timeline.knows_regions);
  EXPECT_EQ(90 * mib, timeline.in_use_most);
  EXPECT_EQ(1000 * mib, timeline.pool_most);
  // Compared with one state for every event.
  std::vector<Band> in_use(100), largest(100);
  std::vector<bool> has(100);
  StreamState state;
  for (std::uint64_t position = 1; position <= stream.end_position(); ++position) {
    stream.advance(state, position);
    const double share = timeline.share_of(position, state.time_ns());
    const auto column = std::min<std::size_t>(99, static_cast<std::size_t>(share * 100));
    const std::uint64_t now = state.heap(1).in_use_bytes, free = *state.heap(1).space.largest_free();
    if (!has[column]) {
      in_use[column] = {now, now};
      largest[column] = {free, free};
    }
    has[column] = true;
    in_use[column].add(now);
    largest[column].add(free);
  }
  for (std::size_t i = 0; i < 100; ++i) {
    ASSERT_TRUE(has[i]);
    // The value at the beginning of the column counts too.
    EXPECT_LE(timeline.columns[i].in_use.least, in_use[i].least);
    EXPECT_EQ(timeline.columns[i].in_use.most, in_use[i].most) << i;
    EXPECT_LE(timeline.columns[i].largest_free.least, largest[i].least) << i;
    EXPECT_TRUE(i == 0 || timeline.columns[i].position > timeline.columns[i - 1].position) << i;
  }
  ASSERT_EQ(1U, timeline.failures.size());
  EXPECT_EQ(2000 * mib, timeline.failures[0].bytes);
  EXPECT_EQ(stream.end_position(), timeline.columns.back().position);
  ASSERT_TRUE(timeline.peak);
  EXPECT_EQ(90 * mib, timeline.peak->bytes);
}

TEST(TimelineColumns, nothing_that_came_in_of_a_time_is_known_of_it) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::AllocRecord block;
  block.size = mib;
  block.heap = writer.define_heap({}, "pool", "device");
  for (std::int64_t i = 1; i <= 20; ++i) {
    block.address = static_cast<std::uint64_t>(i) * mib;
    writer.alloc(block, i);
  }
  wire::LossRecord loss;
  loss.since_ns = 21;
  loss.count = 1000;
  writer.add(loss, 60);
  wire::ListingRecord listing;
  listing.heap = 1;
  writer.add(listing, 60);
  listing.phase = 1;
  writer.add(listing, 60);
  for (std::int64_t i = 61; i <= 101; ++i) {
    block.address = static_cast<std::uint64_t>(i) * mib;
    writer.alloc(block, i);
  }
  writer.flush();
  for (const TimelineEffort effort : {TimelineEffort::at_once, TimelineEffort::exact}) {
    const TimelineColumns timeline = columns_of(stream, {}, 100, effort);
    for (std::size_t column = 0; column < 100; ++column)
      EXPECT_EQ(timeline.columns[column].is_inexact, column >= 20 && column <= 59) << column;
  }
  // Only a part of it is looked at, and all of that part lies in the gap.
  const TimelineColumns part = columns_of(stream, {30, 40}, 10, TimelineEffort::exact);
  for (const TimelineColumn& column : part.columns) EXPECT_TRUE(column.is_inexact);
}

// 500 events at random, of a heap with a region that comes late and grows.
void fill(test::SmallTrace& trace, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<bool> taken(100);
  trace.alloc(1000 * mib, mib);  // Nothing is free, so nothing is fragmented.
  trace.region(0, 100 * mib);
  for (int i = 0; i < 500; ++i) {
    const std::size_t at = random() % taken.size();
    if (taken[at])
      trace.free(at * mib);
    else
      trace.alloc(at * mib, 1 + random() % mib, {}, random() % 2);
    taken[at] = !taken[at];
  }
}

void add_to(std::vector<TimelineColumn>& columns, std::vector<bool>& has, std::size_t to, const StreamState& now) {
  const std::uint64_t in_use = now.in_use_bytes(1);
  const std::uint64_t requested = now.heap(1).requested_bytes;
  if (!has[to]) columns[to].in_use = {in_use, in_use};
  if (!has[to]) columns[to].requested = {requested, requested};
  has[to] = true;
  columns[to].in_use.add(in_use);
  columns[to].requested.add(requested);
  if (const auto share = external_fragmentation(now.heap(1)))
    columns[to].fragmentation.add({static_cast<float>(*share), static_cast<float>(*share)});
}

TEST(TimelineColumns, every_span_equals_that_of_one_state_per_event) {
  test::SmallTrace trace;
  fill(trace, 3);
  const Stream& stream = trace.trace().streams[0];
  std::mt19937 random(5);
  const std::int64_t whole = stream.last_time_ns() - stream.first_time_ns();
  for (int round = 0; round < 30; ++round) {
    TimelineSpan span{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(whole)), 0};
    span.end = span.begin + 1000 + static_cast<std::int64_t>(random() % 100'000);
    const std::size_t count = 1 + random() % 60;
    const TimelineColumns timeline = columns_of(stream, span, count, TimelineEffort::exact);
    ASSERT_EQ(count, timeline.columns.size());
    // A column contains the value at its beginning and all later values in it.
    std::vector<TimelineColumn> naive(count);
    std::vector<bool> has(count);
    std::size_t next = 0;
    StreamState state, last;
    for (std::uint64_t position = 0; position <= stream.end_position(); ++position) {
      const StreamState before = last;
      stream.advance(state, position);
      const double share = position == 0 ? -1 : timeline.share_of(position, state.time_ns());
      if (share > 1) break;
      const std::size_t column =
          share < 0 ? 0 : std::min(count - 1, static_cast<std::size_t>(share * static_cast<double>(count)));
      if (share < 0) {
        naive[0] = {};
        has[0] = false;
        last = state;
        add_to(naive, has, 0, state);
        continue;
      }
      for (; next < column; ++next) add_to(naive, has, next + 1, before);
      add_to(naive, has, column, state);
      last = state;
    }
    for (; next + 1 < count; ++next) add_to(naive, has, next + 1, last);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(naive[i].in_use, timeline.columns[i].in_use) << "round " << round << " column " << i;
      ASSERT_EQ(naive[i].requested, timeline.columns[i].requested) << "round " << round << " column " << i;
      ASSERT_EQ(naive[i].fragmentation, timeline.columns[i].fragmentation) << "round " << round << " column " << i;
    }
  }
}

TEST(ActiveSpan, leaves_out_a_beginning_with_nothing_but_not_a_short_one) {
  const auto active = [](int nothing, int something) {
    test::SmallTrace trace;
    trace.region(0, 64 * mib);
    for (int i = 0; i < nothing; ++i) i % 2 == 0 ? trace.alloc(0, 512, "start") : trace.free(0);
    for (int i = 0; i < something; ++i) i % 2 == 0 ? trace.alloc(mib, 32 * mib, "step") : trace.free(mib);
    return active_span_of(trace.trace().streams[0], 1);
  };
  EXPECT_TRUE(active(20, 1000).empty());
  const TimelineSpan span = active(400, 1000);
  EXPECT_GT(span.begin, 150'000);
  EXPECT_LE(span.begin, 400'000);
}

TEST(ActiveSpan, leaves_out_most_of_the_time_if_little_happened_in_it) {
  TraceBuilder trace;  // One event a second at first, then one a microsecond.
  const std::uint32_t heap = trace.heap("pool", wire::heap_flag::has_addresses);
  for (std::uint64_t i = 0; i < 300; ++i) {
    if (i < 20) trace.time_ns += 1'000'000'000;
    trace.alloc(heap, i * mib, mib);
  }
  trace.writer.flush();
  const TimelineSpan span = active_span_of(trace.trace.streams[0], heap);
  EXPECT_GT(span.begin, 18'000'000'000);
  EXPECT_EQ(whole_span_of(trace.trace.streams[0]).end, span.end);
  // A process that waits at its end, and then releases the last block.
  for (std::uint64_t i = 1; i < 20; ++i) trace.free(heap, i * mib);
  trace.time_ns += 20'000'000'000;
  trace.free(heap, 0);
  trace.writer.flush();
  EXPECT_LT(active_span_of(trace.trace.streams[0], heap).end, 21'000'000'000);
}

TEST(TimelineColumns, nothing_free_is_no_fragmentation) {
  test::SmallTrace trace;
  trace.region(0, 10 * mib);
  trace.alloc(0, 10 * mib);
  for (int i = 0; i < 20; ++i) trace.alloc(100 * mib + static_cast<std::uint64_t>(i), 1);
  const TimelineColumns timeline = columns_of(trace.trace().streams[0], {}, 10, TimelineEffort::exact);
  EXPECT_TRUE(timeline.columns.front().fragmentation.is_defined());
  EXPECT_FALSE(timeline.columns.back().fragmentation.is_defined());
}

TEST(TimelineMarkers, ranges_nest_and_adjacent_instants_are_one) {
  test::SmallTrace trace;  // An event a microsecond.
  trace.mark("epoch", 1);
  for (int i = 0; i < 3; ++i) {
    trace.mark("step", 1);
    trace.mark("forward", 1);
    trace.mark("layer", 1);
    trace.mark("too deep", 1);
    trace.mark("now");
    for (const char* name : {"too deep", "layer", "forward", "step"}) trace.mark(name, 2);
  }
  trace.alloc(0, mib);
  const Stream& stream = trace.trace().streams[0];
  const TimelineColumns fine = columns_of(stream, {}, 100'000, TimelineEffort::exact);
  ASSERT_EQ(10U, fine.stretches.size()) << "the epoch, three steps and three of what is in them; no deeper";
  EXPECT_EQ("epoch", fine.stretches[0].name);
  EXPECT_GT(fine.stretches[0].end, 1) << "it never ends";
  EXPECT_EQ(1, fine.stretches[1].depth);
  EXPECT_EQ("forward", fine.stretches[2].name);
  EXPECT_EQ(2, fine.stretches[2].depth);
  ASSERT_EQ(3U, fine.instants.size());
  EXPECT_EQ(5U, fine.instants[0].position) << "before it";
  const TimelineColumns coarse = columns_of(stream, {}, 1, TimelineEffort::exact);
  ASSERT_EQ(1U, coarse.instants.size());
  EXPECT_EQ(3U, coarse.instants[0].count);
  EXPECT_EQ(4U, coarse.stretches.size()) << "one at each depth";
}

TEST(TimelineMarkers, what_overlaps_without_being_nested_has_a_row_of_its_own) {
  test::SmallTrace trace;
  trace.mark("program", 1);
  trace.mark("copy", 1);
  trace.mark("body", 1);
  trace.mark("copy", 2);
  trace.mark("next copy", 1);  // While the body still runs.
  trace.mark("body", 2);
  trace.mark("next copy", 2);
  trace.mark("program", 2);
  trace.alloc(0, mib);
  const TimelineColumns fine = columns_of(trace.trace().streams[0], {}, 100'000, TimelineEffort::exact);
  ASSERT_EQ(4U, fine.stretches.size());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(static_cast<int>(i), fine.stretches[i].depth) << fine.stretches[i].name;
  EXPECT_EQ("next copy", fine.stretches[3].name);
  EXPECT_EQ(1, fine.stretches[3].depth) << "the row that the copy left, not the body's";
}

TEST(TimelineCounters, each_column_has_the_least_the_most_and_the_value_before_it) {
  test::SmallTrace trace;  // An event a microsecond.
  trace.alloc(0, mib);
  std::mt19937 random(7);
  std::vector<std::int64_t> values;
  for (int i = 0; i < 400; ++i) {
    values.push_back(static_cast<std::int64_t>(random() % 1000));
    trace.report("bytes told", values.back());
  }
  for (int i = 0; i < 99; ++i) {
    trace.free(0);
    trace.alloc(0, mib);
  }
  trace.report("once", 5);
  for (const char* name : {"second", "third", "fourth"})
    for (int i = 0; i < 2; ++i) trace.report(name, i);
  const Stream& stream = trace.trace().streams[0];
  const std::int64_t from = 100'500, to = 450'500;  // On the first axis: between two events.
  const std::size_t count = 35;
  const TimelineColumns timeline = columns_of(stream, {from, to}, count, TimelineEffort::exact);
  ASSERT_EQ(3U, timeline.counters.size()) << "what was told once is no course";
  EXPECT_EQ(1U, timeline.counters_left_out);
  EXPECT_EQ("bytes told", timeline.counters[0].name);
  EXPECT_TRUE(timeline.counters[0].is_bytes);
  EXPECT_FALSE(timeline.counters[1].is_bytes);
  EXPECT_FALSE(timeline.counters[1].columns[0].is_defined) << "told after this stretch only";
  for (std::size_t column = 0; column < count; ++column) {
    const std::int64_t begin = from + static_cast<std::int64_t>(column) * 10'000, end = begin + 10'000;
    CounterBand naive;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t at = (static_cast<std::int64_t>(i) + 1) * 1000;
      const std::int64_t next = i + 1 < values.size() ? at + 1000 : to;
      if (at < end && next > begin) naive.add({values[i], values[i], true});
    }
    ASSERT_EQ(naive, timeline.counters[0].columns[column]) << column;
  }
}

TEST(TimelineCounters, what_the_process_holds_comes_first_also_where_no_heap_ever_held_anything) {
  constexpr const char* all = "GPU 0 bytes in use by all processes (NVML)";
  constexpr const char* own = "GPU 0 bytes held by this process (NVML)";
  test::SmallTrace trace;
  trace.report(all, 100);
  trace.report(own, 30);
  const std::atomic<bool> cancelled = false;
  const auto without =
      compute_timeline_columns(trace.trace().streams[0], {0, 0}, {}, 10, TimelineEffort::exact, cancelled);
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->heap.empty());
  EXPECT_FALSE(without->knows_regions);
  ASSERT_EQ(2U, without->counters.size()) << "told once, and all that there is";
  EXPECT_EQ(own, without->counters[0].name);
  EXPECT_EQ((CounterBand{30, 30, true}), without->counters[0].columns[9]);
  trace.alloc(0, mib);
  trace.report(all, 101);
  const TimelineColumns beside = columns_of(trace.trace().streams[0], {}, 10, TimelineEffort::exact);
  ASSERT_EQ(2U, beside.counters.size());
  EXPECT_EQ(own, beside.counters[0].name);
}

// A pool, and with it a heap of another kind, two of the same name, and one that never held anything.
class OfSeveralHeaps : public testing::Test {
 protected:
  void fill(int turns) {
    region(1, 1000 * mib);
    trace_.add_heap("pool");
    trace_.add_heap("never used");
    trace_.add_heap("VMEM", true, "vmem");
    region(4, 128 * mib);
    trace_.add_heap("pool");
    std::mt19937 random(11);
    for (int i = 0; i < turns; ++i)
      for (const std::uint32_t heap : {1U, 2U, 4U, 5U}) {
        alloc(heap, 0, (1 + random() % 100) * mib);
        if (heap == 4 && i % 3 != 0) {
          alloc(heap, 100 * mib, mib);
          free(heap, 100 * mib);
        }
        free(heap, 0);
      }
    stream_ = &trace_.trace().streams[0];
    ASSERT_EQ(told_.size(), stream_->end_position());
  }

  // The values of a heap in each column: the one at its beginning, and those after each event in it.
  std::vector<Band> naive(std::uint32_t heap, const TimelineColumns& timeline) const {
    std::vector<Band> bands(timeline.columns.size(), Band{~std::uint64_t{0}, 0});
    std::uint64_t now = 0;
    std::size_t at = 0;
    bool has_begun = false;
    for (std::uint64_t position = 1; position <= told_.size(); ++position) {
      const double share = timeline.share_of(position, static_cast<std::int64_t>(position) * 1000);
      if (share > 1) break;
      if (share >= 0) {
        if (!has_begun) bands[0].add(now);
        has_begun = true;
        for (const std::size_t column = TimelineColumns::column_of(share, bands.size()); at < column;)
          bands[++at].add(now);
      }
      if (told_[position - 1].heap == heap) now = told_[position - 1].in_use;
      if (share >= 0) bands[at].add(now);
    }
    while (at + 1 < bands.size()) bands[++at].add(now);
    return bands;
  }

 private:
  struct Reported {
    std::uint32_t heap;
    std::uint64_t in_use;
  };
  void region(std::uint32_t heap, std::uint64_t size) {
    trace_.region(0, size);
    told_.push_back({heap, 0});
  }
  void alloc(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    trace_.heap_of(heap);
    trace_.alloc(address, size);
    sizes_[{heap, address}] = size;
    told_.push_back({heap, in_use_[heap] += size});
  }
  void free(std::uint32_t heap, std::uint64_t address) {
    trace_.free(address);
    told_.push_back({heap, in_use_[heap] -= sizes_[{heap, address}]});
  }

  std::vector<Reported> told_;  // By event.
  std::map<std::uint32_t, std::uint64_t> in_use_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> sizes_;

 protected:
  test::SmallTrace trace_;
  const Stream* stream_ = nullptr;
};

TEST_F(OfSeveralHeaps, others_have_the_least_and_most_of_each_column) {
  fill(300);
  for (const TimelineSpan span : {TimelineSpan{}, TimelineSpan{333'500, 1'222'500}}) {
    const TimelineColumns timeline = columns_of(*stream_, span, 77, TimelineEffort::exact);
    std::vector<std::string> names;
    for (const TimelineHeap& heap : timeline.heaps) names.push_back(heap.name);
    EXPECT_EQ((std::vector<std::string>{"VMEM", "pool of device 1", "pool of device 4"}), names)
        << "another kind of memory first; nothing of what never held anything";
    EXPECT_TRUE(timeline.heaps[0].is_other_kind);
    EXPECT_EQ(128 * mib, timeline.heaps[0].pool);
    for (const TimelineHeap& heap : timeline.heaps) {
      const std::vector<Band> bands = naive(heap.heap, timeline);
      ASSERT_EQ(bands.size(), heap.columns.size());
      for (std::size_t i = 0; i < bands.size(); ++i)
        ASSERT_EQ(bands[i], heap.columns[i]) << heap.name << ", column " << i << " of span " << span.begin;
    }
  }
}

TEST_F(OfSeveralHeaps, a_first_answer_leaves_out_no_peak_of_theirs) {
  fill(8'000);
  const TimelineColumns timeline = columns_of(*stream_, {}, 50, TimelineEffort::at_once);
  ASSERT_FALSE(is_at_once({0, stream_->end_position()}));
  for (const TimelineHeap& heap : timeline.heaps) {
    const std::vector<Band> bands = naive(heap.heap, timeline);
    std::uint64_t most = 0;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      ASSERT_LE(heap.columns[i].least, bands[i].least) << heap.name << ' ' << i;
      ASSERT_GE(heap.columns[i].most, bands[i].most) << heap.name << ' ' << i;
      most = std::max(most, heap.columns[i].most);
    }
    EXPECT_EQ(heap.peak, most);
  }
}

TEST(TimelineColumns, cancelled_one_has_no_answer) {
  test::SmallTrace trace;
  fill(trace, 1);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(compute_timeline_columns(trace.trace().streams[0], {0, 1}, {}, 10, TimelineEffort::exact, cancelled));
}

TEST(PossibleSpan, stays_within_the_axis_and_is_never_too_short) {
  TimelineColumns timeline;
  timeline.has_times = true;
  timeline.whole = {0, 1'000'000};
  EXPECT_EQ(TimelineSpan{}, possible_span(timeline, -5, 2e6)) << "all of it";
  EXPECT_EQ((TimelineSpan{0, 500'000}), possible_span(timeline, -100'000, 400'000)) << "moved, not cut";
  EXPECT_EQ(100, possible_span(timeline, 5000, 5000).length());
}

std::vector<std::string> labels_of(std::int64_t begin, std::int64_t end, int most, bool has_times = true) {
  TimelineColumns axis;
  axis.has_times = has_times;
  axis.span = {begin, end};
  std::vector<std::string> labels;
  for (const AxisTick& tick : ticks_of(axis, most)) labels.push_back(tick.text);
  return labels;
}

TEST(AxisTicks, count_from_the_first_one_where_only_the_last_digits_differ) {
  using Labels = std::vector<std::string>;
  constexpr std::int64_t ms = 1'000'000, second = 1000 * ms;
  EXPECT_EQ((Labels{"8.74 s", "+20 ms", "+40 ms"}), labels_of(8730 * ms, 8790 * ms, 3));
  EXPECT_EQ((Labels{"0", "0.5 s", "1.0 s", "1.5 s"}), labels_of(0, 1600 * ms, 4));
  EXPECT_EQ((Labels{"490 ms", "495 ms", "500 ms"}), labels_of(489 * ms, 501 * ms, 3));
  EXPECT_EQ((Labels{"0:50", "1:00", "1:10"}), labels_of(49 * second, 75 * second, 3));
  EXPECT_EQ((Labels{"1:03:25.100002", "+2 µs", "+4 µs"}), labels_of(3'805'100'001'000, 3'805'100'006'000, 3));
  EXPECT_EQ((Labels{"53,712,000", "53,712,020", "53,712,040"}), labels_of(53'711'990, 53'712'050, 3, false));
}

TEST(AxisTicks, are_distinct_at_every_zoom) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 4000; ++round) {
    const auto begin = static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 44)));
    const auto length = 100 + static_cast<std::int64_t>(random() % (std::uint64_t{1} << (random() % 44)));
    const std::vector<std::string> labels = labels_of(begin, begin + length, 1 + static_cast<int>(random() % 16));
    ASSERT_EQ(labels.size(), std::set(labels.begin(), labels.end()).size())
        << begin << " " << length << " " << ::testing::PrintToString(labels);
  }
}

}  // namespace
}  // namespace hbmscope::gui
