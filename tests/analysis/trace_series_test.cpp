// Traces as lines of a series.
#include "analysis/query/trace_series.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

using Curve = std::vector<std::uint64_t>;

TEST(TraceSeries, tells_peak_end_and_the_way_between) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  built.time_ns = 0;
  built.alloc(heap, 0, 100);  // At 1 us.
  built.time_ns = 300'000;
  built.alloc(heap, 4096, 500);
  built.free(heap, 4096);
  built.time_ns = 600'000;
  built.alloc(heap, 8192, 200);
  built.time_ns = 999'000;
  built.free(heap, 0);
  built.states_at();
  const TraceSeriesPoint point = compute_trace_series_point(built.trace, 4);
  EXPECT_EQ("made-up.trace", point.file);
  EXPECT_EQ(999'000, point.duration_ns);
  EXPECT_EQ(5U, point.events.total);
  EXPECT_TRUE(point.is_finished);
  ASSERT_EQ(1U, point.heaps.size());
  EXPECT_EQ("GPU 0", point.heaps[0].label);
  EXPECT_EQ(600U, point.heaps[0].peak_in_use_bytes);
  EXPECT_EQ(200U, point.heaps[0].in_use_bytes);
  EXPECT_EQ((Curve{100, 600, 300, 300}), point.heaps[0].curve);
}

// Eight stretches of 1,024 events: low, and high in the third and the seventh.
std::vector<wire::SharedBlock> ups_and_downs() {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { blocks.push_back(std::move(block)); });
  wire::AllocRecord block;
  block.heap = writer.define_heap({}, "GPU 0", "device");
  std::int64_t time_ns = 0;
  for (int stretch = 0; stretch < 8; ++stretch) {
    block.size = stretch == 2 || stretch == 6 ? 1000 : 10;
    for (int i = 0; i < 512; ++i) {
      writer.alloc(block, ++time_ns);
      writer.free(block.heap, block.address, 0, 0, ++time_ns);
    }
  }
  writer.flush();
  return blocks;
}

TEST(TraceSeries, a_long_curve_has_its_ups_where_they_were) {
  for (const Stream::Keeps keeps : {Stream::Keeps::everything, Stream::Keeps::curves}) {
    Trace trace;
    trace.streams.emplace_back(keeps);
    for (const wire::SharedBlock& block : ups_and_downs()) ASSERT_EQ(std::nullopt, trace.streams[0].append(block));
    const TraceSeriesPoint point = compute_trace_series_point(trace, 8);
    ASSERT_EQ(1U, point.heaps.size());
    EXPECT_EQ(0U, point.heaps[0].in_use_bytes);
    EXPECT_EQ(1000U, point.heaps[0].peak_in_use_bytes);
    EXPECT_EQ((Curve{10, 10, 1000, 10, 10, 10, 1000, 10}), point.heaps[0].curve);
  }
}

TEST(TraceSeries, leaves_out_what_counts_in_no_total) {
  TraceBuilder built;
  const std::uint32_t device = built.heap("GPU 0", 0);
  wire::HeapRecord record;
  const std::uint32_t host = built.writer.define_heap(record, "pinned", "host_pinned");
  const std::uint32_t empty = built.heap("GPU 1", 0);
  built.alloc(device, 0, 100);
  built.alloc(host, 1 << 20, 100);
  built.states_at();
  const TraceSeriesPoint point = compute_trace_series_point(built.trace, 4);
  ASSERT_EQ(1U, point.heaps.size()) << empty;
  EXPECT_EQ("GPU 0", point.heaps[0].label);
}

TEST(TraceSeries, is_in_the_order_of_time_if_all_have_one) {
  std::vector<TraceSeriesPoint> points(3);
  points[0].begun_ms = 30;
  points[1].begun_ms = 10;
  points[2].begun_ms = 20;
  sort_trace_series(points);
  EXPECT_EQ(10U, points[0].begun_ms);
  EXPECT_EQ(30U, points[2].begun_ms);
  points[0].begun_ms = 0;
  std::swap(points[1], points[2]);
  sort_trace_series(points);
  EXPECT_EQ(30U, points[1].begun_ms);
}

}  // namespace
}  // namespace hbmscope
