// The trace that a replay records agrees with the allocator.
#include "analysis/read/requests/replay_recorder.h"

#include "analysis/trace/moment.h"
#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {
namespace {

struct Replayed {
  ReplayResult result;
  HeapState heap;
  EventCounts counts;
};

Replayed replay(const RequestStream& stream, const AllocatorOptions& options) {
  ReplayRecorder recorder("a.jsonl", options, "GPU_0_bfc", stream, nullptr);
  Replayed replayed;
  Watcher* const watchers[] = {&recorder};
  replayed.result = play(stream, options, watchers);
  const Trace& trace = recorder.close();
  EXPECT_EQ(trace.import.count_of("encoding"), 0);
  replayed.heap = trace.streams.front().last_state().heap(1);
  replayed.counts = trace.streams.front().counts();
  EXPECT_EQ(replayed.heap.space.problems(), AddressProblems{});
  EXPECT_FALSE(trace.streams.front().has_times());
  return replayed;
}

Replayed replay_text(const std::string& text) {
  const RequestStream stream = stream_of(text);
  return replay(stream, options_of(stream.config, version_of(stream.config)));
}

void expect_same(const Replayed& replayed) {
  const Statistics& statistics = replayed.result.statistics;
  EXPECT_EQ(replayed.heap.in_use_bytes, statistics.in_use_bytes);
  EXPECT_EQ(replayed.heap.known_requested_bytes(), replayed.result.requested_bytes);
  EXPECT_EQ(replayed.heap.space.region_bytes(), statistics.pool_bytes);
  EXPECT_EQ(replayed.heap.space.largest_free(), statistics.largest_free_bytes);
  EXPECT_EQ(replayed.counts.alloc, replayed.result.allocations);
  EXPECT_EQ(replayed.counts.free, replayed.result.frees);
  EXPECT_EQ(replayed.counts.out_of_memory, replayed.result.refused);
  EXPECT_EQ(replayed.counts.driver_refusals, replayed.result.driver_refusals);
}

TEST(ReplayRecorder, a_preallocated_pool) {
  expect_same(replay_text(small_stream));
}

TEST(ReplayRecorder, two_ends) {
  expect_same(replay_text(R"({"config":{"total_bytes":1048576,"spatial":1}}
["a",1,1000]
["a",2,70000,{"end":"u","align":4096}]
["a",3,300000]
["f",1]
["a",4,900000]
)"));
}

TEST(ReplayRecorder, regions_that_come_are_refused_and_go) {
  const Replayed replayed = replay_text(
      R"({"config":{"total_bytes":8388608,"allow_growth":1,"garbage_collection":1,"device_bytes":7340032}}
["a",1,2097152]
["a",2,4194304]
["f",1]
["a",3,3145728]
["a",4,3145728]
)");
  expect_same(replayed);
  EXPECT_GT(replayed.result.driver_releases, 0U);
  EXPECT_GT(replayed.result.driver_refusals, 0U);
}

// Regions released by a free are reported after it, so that no block is ever outside all regions.
TEST(ReplayRecorder, every_allocator) {
  RequestStream stream = stream_of(R"({"config":{"total_bytes":134217728}}
["a",1,3000000]
["a",2,70000]
["a",3,60000000]
["f",1]
["a",4,50000000]
["f",3]
["a",5,110000000]
["f",4]
["a",6,90000000]
["f",2]
)");
  stream.config.upstream.device_bytes = std::uint64_t{128} << 20;
  pytorch::Options expandable;
  expandable.expandable_segments = true;
  expandable.device_bytes = *stream.config.upstream.device_bytes;
  std::uint64_t releases = 0;
  for (const AllocatorOptions& options :
       {AllocatorOptions(platform::Options{}), AllocatorOptions(cuda_async::Options{}),
        AllocatorOptions(pytorch::Options{}), AllocatorOptions(expandable),
        AllocatorOptions(first_fit::Options{std::uint64_t{128} << 20})}) {
    SCOPED_TRACE(name_of(options));
    const Replayed replayed = replay(stream, options);
    expect_same(replayed);
    EXPECT_GT(replayed.result.refused, 0U);
    releases += replayed.result.driver_releases;
  }
  EXPECT_GT(releases, 5U);
}

TEST(ReplayRecorder, times_stacks_and_tags_are_those_of_the_source) {
  TraceWriter source({"a.pickle", "torch", "Test", "pytorch", 0});
  wire::StreamWriter& events = source.events();
  const std::uint32_t outer = events.define_stack(0, events.define_code_frame({}, "main", "/opt/train"));
  const std::uint32_t inner = events.define_stack(outer, events.define_frame("step", "train.py", 9));
  const std::uint32_t tag = events.define_string("weights");
  source.close();
  RequestStream stream =
      stream_of("{\"config\":{\"total_bytes\":1048576}}\n[\"a\",1,1000]\n[\"a\",2,9999999]\n[\"f\",1]\n");
  stream.origins = {{100, inner, tag}, {200, outer, 0}, {300, 0, 0}};
  ReplayRecorder recorder("a.pickle", options_of(stream.config, xla_gpu::Version::classic), "GPU_0_bfc", stream,
                          &source.stream().definitions());
  Watcher* const watchers[] = {&recorder};
  play(stream, options_of(stream.config, xla_gpu::Version::classic), watchers);
  const Stream& made = recorder.close().streams.front();
  const StreamState then = made.state_at(2);  // The region and the block.
  const LiveBlock& block = *then.slots().begin();
  const Definitions& definitions = made.definitions();
  EXPECT_EQ(definitions.text(block.tag), "weights");
  const TraceStack stack = definitions.stack(block.stack);
  EXPECT_EQ(definitions.text(definitions.frame(stack.frame).function), "step");
  EXPECT_EQ(definitions.frame(stack.frame).line, 9U);
  const std::uint32_t caller = definitions.stack(stack.parent).frame;
  EXPECT_EQ(definitions.text(definitions.frame(caller).function), "main");
  EXPECT_TRUE(definitions.is_code(caller)) << "native code stays native code";
  EXPECT_FALSE(definitions.is_code(stack.frame));
  EXPECT_EQ(made.first_time_ns(), 100);
  EXPECT_EQ(made.last_time_ns(), 300);
  ASSERT_EQ(made.failures().size(), 1U);
  EXPECT_EQ(made.failures()[0].time_ns, 200);
  EXPECT_EQ(definitions.stack(made.failures()[0].stack), definitions.stack(definitions.stack(block.stack).parent));
}

}  // namespace
}  // namespace hbmscope::allocator
