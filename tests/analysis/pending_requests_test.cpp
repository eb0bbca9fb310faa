// Requests that were refused and may be tried again still.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "analysis/query/pending_requests.h"
#include "analysis/read/recording/growing_trace.h"
#include "analysis/trace/unanswered_refusals.h"
#include "collector/wire/stream_writer.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr std::int64_t second = 1'000'000'000;

class Job {
 public:
  Job() {
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_addresses | wire::heap_flag::is_complete_at_start;
    heap.device = 0;
    first = writer_.define_heap(heap, "GPU 0", "device");
    heap.device = 1;
    second_heap = writer_.define_heap(heap, "GPU 1", "device");
    take(first, 1000, 0);
  }
  void take(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns) {
    wire::AllocRecord block;
    block.heap = heap;
    block.address = ++blocks_ << 30;
    block.size = bytes;
    writer_.alloc(block, time_ns);
  }
  void refuse(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns) {
    wire::DriverRefusalRecord refusal;
    refusal.heap = heap;
    refusal.requested = bytes;
    refusal.call = writer_.define_string("cuMemAlloc_v2");
    writer_.add(refusal, time_ns);
  }
  void give_up(std::uint32_t heap, std::uint64_t bytes, std::int64_t time_ns) {
    wire::OutOfMemoryRecord failure;
    failure.heap = heap;
    failure.requested = bytes;
    writer_.add(failure, time_ns);
  }
  void mark(std::int64_t time_ns) { writer_.add(wire::MarkerRecord{}, time_ns); }
  std::vector<FailureRow> pending() {
    writer_.flush();
    return compute_pending_rows(*trace_.version());
  }

  std::uint32_t first = 0, second_heap = 0;

 private:
  GrowingTrace trace_{"live"};
  wire::StreamWriter writer_{0, [this](const wire::SharedBlock& block) { trace_.take(block); }};
  std::uint64_t blocks_ = 0;
};

TEST(PendingRequests, ARefusalIsPendingUntilARetryFollows) {
  Job job;
  EXPECT_TRUE(job.pending().empty());
  job.refuse(job.first, 4000, second);
  job.take(job.first, 1999, second);        // Less than half of it,
  job.take(job.second_heap, 8000, second);  // and another heap's.
  const auto rows = job.pending();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_TRUE(rows[0].is_pending);
  EXPECT_EQ(rows[0].requested_bytes, 4000U);
  EXPECT_EQ(rows[0].reason, "cuMemAlloc_v2");
  EXPECT_EQ(rows[0].device, 0U);
  EXPECT_EQ(rows[0].used_bytes, 1000U);
  job.take(job.first, 2000, 2 * second);
  EXPECT_TRUE(job.pending().empty());
}

TEST(PendingRequests, OfAnyTimesIsOverOrNot) {
  Job job;
  job.refuse(job.first, 4000, std::numeric_limits<std::int64_t>::min());
  job.mark(std::numeric_limits<std::int64_t>::max());
  EXPECT_TRUE(job.pending().empty());
}

TEST(PendingRequests, TheLaterRefusalOfAHeapCounts) {
  Job job;
  job.refuse(job.first, 4000, second);
  job.refuse(job.second_heap, 900, second);
  job.refuse(job.first, 3600, second);
  const auto rows = job.pending();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].requested_bytes, 900U);
  EXPECT_EQ(rows[1].requested_bytes, 3600U);
}

TEST(PendingRequests, WhatWasGivenUpOrIsOldIsNotPending) {
  Job reported;
  reported.refuse(reported.first, 4000, second);
  reported.give_up(reported.first, 4000, 2 * second);
  EXPECT_TRUE(reported.pending().empty());
  reported.refuse(reported.first, 5000, 3 * second);
  EXPECT_EQ(reported.pending().size(), 1U) << "a new one after that";
  Job old;
  old.refuse(old.first, 4000, second);
  old.mark(second + retry_patience_ns - 1);
  EXPECT_EQ(old.pending().size(), 1U);
  old.mark(second + retry_patience_ns);
  EXPECT_TRUE(old.pending().empty());
}

TEST(PendingRequests, ARefusalThatNamesNoHeapIsAnsweredByAny) {
  Job job;
  job.refuse(0, 0, second);
  EXPECT_EQ(job.pending().size(), 1U);
  job.take(job.second_heap, 1, second);
  EXPECT_TRUE(job.pending().empty());
}

TEST(UnansweredRefusals, AfterTheEndTheLastOneIsAFailure) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  builder.refuse(heap, 5000);  // A retry follows.
  builder.alloc(heap, 0x1000, 4500);
  builder.refuse(heap, 9000, 700);
  builder.free(heap, 0x1000);
  builder.writer.flush();
  Stream& stream = builder.trace.streams.front();
  const Stream before = stream.version();
  EXPECT_TRUE(find_failed_requests(builder.trace).empty());
  stream.end_refusals();
  stream.end_refusals();  // The second time nothing is left.
  EXPECT_EQ(stream.counts().failed_requests, 1U);
  EXPECT_EQ(stream.counts().out_of_memory, 0U) << "no allocator reported one";
  const std::vector<FailedRequest> failed = find_failed_requests(builder.trace);
  ASSERT_EQ(failed.size(), 1U);
  const FailureEvent& failure = stream.failures()[failed.front().index];
  EXPECT_EQ(failure.requested_bytes, 9000U);
  EXPECT_TRUE(failure.is_refusal);
  EXPECT_FALSE(before.failures()[failed.front().index].is_out_of_memory) << "versions stay as they were";
}

TEST(UnansweredRefusals, AnAllocationOfAnySizeMeansThatTheJobWentOn) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  builder.refuse(heap, 9000);
  builder.alloc(heap, 0x1000, 1);
  builder.writer.flush();
  Stream& stream = builder.trace.streams.front();
  EXPECT_EQ(find_unanswered_refusals(stream, Answer::retry).size(), 1U);
  stream.end_refusals();
  EXPECT_EQ(stream.counts().failed_requests, 0U);
}

TEST(UnansweredRefusals, APoolOfTheSameDeviceThatFoundRoomIsAnAnswer) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  const std::uint32_t pool = builder.pool("GPU_0_bfc", wire::heap_flag::has_addresses);
  builder.refuse(heap, 9000);
  builder.alloc(pool, 0x1000, 9000);
  builder.writer.flush();
  EXPECT_TRUE(find_unanswered_refusals(builder.trace.streams.front(), Answer::retry).empty());
}

TEST(UnansweredRefusals, OfAPoolAreItsOwnBusiness) {
  TraceBuilder builder;
  const std::uint32_t pool = builder.pool("GPU_0_bfc", wire::heap_flag::has_addresses);
  builder.refuse(pool, 9000);  // "AllocateRaw without retries": XLA goes on without scratch memory.
  builder.writer.flush();
  builder.trace.streams.front().end_refusals();
  EXPECT_EQ(builder.trace.streams.front().counts().failed_requests, 0U);
}

TEST(UnansweredRefusals, WithoutTheEventsAfterThemNothingIsKnown) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  builder.refuse(heap, 9000);
  builder.writer.flush();
  Stream& stream = builder.trace.streams.front();
  stream.note_written(stream.end_position() + 1, stream.blocks().size() + 1);
  stream.end_refusals();
  EXPECT_EQ(stream.counts().failed_requests, 0U);
  EXPECT_EQ(find_unanswered_refusals(stream, Answer::retry).size(), 1U);
}

TEST(UnansweredRefusals, OfOneDeviceTheLastOneCounts) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0 memory", wire::heap_flag::has_addresses);
  const std::uint32_t other = builder.heap("GPU 0 graph memory", wire::heap_flag::has_addresses);
  builder.refuse(heap, 9000);
  builder.refuse(other, 8000);
  builder.writer.flush();
  Stream& stream = builder.trace.streams.front();
  stream.end_refusals();
  ASSERT_EQ(stream.counts().failed_requests, 1U);
  EXPECT_FALSE(stream.failures()[0].is_out_of_memory);
}

}  // namespace
}  // namespace hbmscope
