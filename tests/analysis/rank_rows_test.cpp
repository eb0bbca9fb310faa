// The ranks of a job side by side, the worst first, and how well their times can be compared.
#include "analysis/query/rank_rows.h"

#include <gtest/gtest.h>

#include <memory>
#include <numeric>

#include "analysis/query/rank_clocks.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/reported_figures.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

struct MadeRank {
  const char* file;
  std::uint64_t in_use = 0, pool = 0, limit = 0;
  bool has_failed = false;
  bool has_other_heap = false;
};

std::shared_ptr<const Trace> trace_of(const MadeRank& made) {
  TraceBuilder built;
  // A heap before it, so that the heaps of all streams are not numbered alike.
  if (made.has_other_heap) built.alloc(built.heap("GPU 7", 0), 0x1000, 1);
  const std::uint32_t heap =
      built.heap("GPU 0", made.pool > 0 ? wire::heap_flag::has_regions | wire::heap_flag::has_addresses : 0);
  if (made.pool > 0) built.grow(heap, 0x100000, made.pool);
  if (made.in_use > 0) built.alloc(heap, 0x100000, made.in_use);
  if (made.limit > 0) {
    wire::CounterRecord counter;
    counter.value = static_cast<std::int64_t>(made.limit);
    counter.name = built.writer.define_string(reported_figure::limit);
    counter.heap = heap;
    built.writer.add(counter, built.time_ns += 1000);
  }
  if (made.has_failed) {
    wire::OutOfMemoryRecord record;
    record.requested = 5000;
    record.heap = heap;
    built.writer.add(record, built.time_ns += 1000);
  }
  built.states_at();
  built.trace.files = {made.file};
  return std::make_shared<const Trace>(std::move(built.trace));
}

std::string text_of(const std::vector<RankRow>& rows) {
  std::string text;
  for (const RankRow& row : rows)
    text += row.name + " " + std::to_string(row.in_use_bytes.value_or(0)) + " " +
            (row.fullness() ? std::to_string(static_cast<int>(*row.fullness() * 100)) : "-") + " " +
            std::to_string(row.failures) + "\n";
  return text;
}

std::vector<RankRow> rows_of(const Trace& trace) {
  return compute_rank_rows(trace, compute_states(trace, *find_moment(trace, "end")));
}

TEST(RankRows, failures_come_first_then_who_is_closer_to_the_limit_then_who_had_the_higher_peak) {
  std::vector<std::shared_ptr<const Trace>> traces;
  for (const MadeRank& made :
       {MadeRank{"a", 10}, MadeRank{"b", 30}, MadeRank{"c", 500, 1000, 0, false, true}, MadeRank{"d", 900, 1000},
        MadeRank{"e", 500, 1000, 510}, MadeRank{"f", 0, 1000}, MadeRank{"g", 200, 1000, 0, true, true}, MadeRank{"h"}})
    traces.push_back(trace_of(made));
  const Trace trace = join_traces(traces);
  const auto rows = rows_of(trace);
  EXPECT_EQ(text_of(rows),
            "g 200 20 1\n"
            "e 500 98 0\n"
            "d 900 90 0\n"
            "c 500 50 0\n"
            "b 30 - 0\n"
            "a 10 - 0\n"
            "f 0 0 0\n");
  ASSERT_TRUE(rows.front().failure);
  EXPECT_EQ(rows.front().failure->requested_bytes, 5000);
  EXPECT_EQ(rows.front().heap_name, "GPU 0");
  EXPECT_EQ(rows.front().largest_free_bytes, 800U);
  EXPECT_EQ(rows[1].limit_bytes, 510U);
}

// A pool that grows with its use is full, however little that is.
TEST(RankRows, a_small_pool_that_is_full_is_not_the_worst) {
  const std::vector<std::shared_ptr<const Trace>> traces = {trace_of({"a", 768, 770}), trace_of({"b", 5880, 6060}),
                                                            trace_of({"c", 3060, 4000})};
  const Trace trace = join_traces(traces);
  const auto rows = rows_of(trace);
  EXPECT_EQ(text_of(rows),
            "b 5880 97 0\n"
            "c 3060 76 0\n"
            "a 768 99 0\n");
  EXPECT_EQ(choose_heap(trace, {}).stream, rows.front().stream) << "the window shows the same one first";
}

struct Reading {
  std::int64_t time_ns;
  std::uint64_t realtime_ns, tsc;
};

std::shared_ptr<const Trace> trace_with(const std::vector<Reading>& readings, const std::string& host) {
  TraceBuilder built;
  built.alloc(built.heap("GPU 0", 0), 0x1000, 100);
  if (!host.empty()) built.writer.add_job_fact("host", host);
  for (const Reading& reading : readings) {
    wire::ClockRecord record;
    record.realtime_ns = reading.realtime_ns;
    record.tsc = reading.tsc;
    built.writer.add(record, reading.time_ns);
  }
  built.states_at();
  return std::make_shared<const Trace>(std::move(built.trace));
}

RankClocks clocks_of(const std::vector<std::shared_ptr<const Trace>>& traces) {
  const Trace trace = join_traces(traces);
  std::vector<std::size_t> streams(traces.size());
  std::iota(streams.begin(), streams.end(), std::size_t{0});
  return find_rank_clocks(trace, streams);
}

constexpr std::uint64_t day = 1'700'000'000'000'000'000;

TEST(RankClocks, agree_within_what_they_gain_between_two_readings) {
  const auto clocks = clocks_of({trace_with({{10'000, day, 0}, {1'010'000, day + 1'012'000, 0}}, "a"),
                                 trace_with({{20'000, day, 0}, {1'020'000, day + 999'000, 0}}, "b")});
  EXPECT_EQ(clocks.related, 2);
  EXPECT_EQ(clocks.uncertainty_ns, 12'000U);
  EXPECT_EQ(clocks.machines, 2U);
  EXPECT_EQ(sentence_of(clocks),
            "Times of the 2 ranks are compared by the time of day: the clocks agree within 12.0 µs. The ranks ran on 2 "
            "machines, whose times of day may differ by more.");
}

TEST(RankClocks, of_one_machine_have_two_shared_clocks_that_should_agree) {
  // By the counter the second stream is 50 us later than by the time of day.
  const auto clocks = clocks_of({trace_with({{10'000, day, 1'000}, {1'010'000, day + 1'000'000, 1'001'000}}, "a"),
                                 trace_with({{10'000, day, 51'000}, {1'010'000, day + 1'000'000, 1'051'000}}, "a")});
  EXPECT_EQ(clocks.uncertainty_ns, 50'000U);
  EXPECT_EQ(clocks.machines, 1U);
}

TEST(RankClocks, of_single_readings_how_well_they_agree_is_unknown) {
  const auto clocks = clocks_of({trace_with({{10'000, day, 0}}, ""), trace_with({{20'000, day, 0}}, "")});
  EXPECT_EQ(clocks.related, 2);
  EXPECT_FALSE(clocks.uncertainty_ns);
  EXPECT_FALSE(clocks.machines);
}

TEST(RankClocks, without_a_common_clock_times_are_not_compared) {
  EXPECT_EQ(sentence_of(clocks_of({trace_with({}, ""), trace_with({{20'000, day, 0}}, "")})),
            "Times of different ranks can't be compared: the files have no readings of a common clock.");
  const auto some =
      clocks_of({trace_with({{1'000, day, 0}}, ""), trace_with({}, ""), trace_with({{9'000, day, 0}}, "")});
  EXPECT_EQ(some.related, 2);
  EXPECT_EQ(
      sentence_of(some),
      "Times of 2 of the 3 ranks are compared by the time of day; how well the clocks agree is unknown. The times "
      "of day of different machines may differ by more. Times of the others can't be compared.");
  EXPECT_EQ(sentence_of(clocks_of({trace_with({}, "")})), "");
}

}  // namespace
}  // namespace hbmscope
