// JAX's memory profile beside other files of its job: its arrays are found among the blocks by their sizes, count once,
// and say whose the blocks are.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/query/same_memory.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/layers.h"
#include "analysis/trace/profile_from_trace.h"
#include "analysis/trace/trace_from_profile.h"
#include "tests/analysis/profile_builder.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

const std::vector<TestLabel> on_gpu = {{"kind", "buffer"}, {"device", "cuda:0"}};

std::shared_ptr<const Trace> arrays(const ProfileBuilder& profile) {
  auto trace = trace_from_profile(*profile.build());
  return trace ? std::make_shared<const Trace>(std::move(*trace)) : nullptr;
}

// A log of a pool with blocks of these sizes one after another.
std::shared_ptr<const Trace> log_of(const std::vector<std::uint64_t>& sizes) {
  TraceBuilder builder;
  builder.writer.add_job_fact("hbmscope.source", "a log");
  wire::HeapRecord record;
  record.device = 0;
  record.layer = static_cast<std::uint8_t>(wire::Layer::chunk);
  record.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
  const std::uint32_t heap = builder.writer.define_heap(record, "GPU_0_bfc", "device");
  std::uint64_t address = 0x1000'0000;
  for (const std::uint64_t size : sizes) {
    wire::LiveRecord block;
    block.heap = heap;
    block.address = address;
    block.size = size;
    builder.writer.live(block);
    address += size;
  }
  builder.writer.flush();
  return std::make_shared<const Trace>(std::move(builder.trace));
}

struct Joined {
  Trace trace;
  std::vector<StreamState> states;
  explicit Joined(const std::vector<std::shared_ptr<const Trace>>& traces) : trace(join_traces(traces)) {
    for (const Stream& stream : trace.streams) states.push_back(stream.state_at(stream.end_position()));
  }
  std::vector<SameMemory> same_as(std::size_t stream, std::uint64_t slot) const {
    const LiveBlock& block = states[stream].slots()[slot];
    return find_same_memory(trace, states, stream, 1, {block.address, block.address + block.size});
  }
  std::size_t bytes() const {
    std::size_t sum = 0;
    const auto counted = find_counted_heaps(trace);
    for (std::size_t i = 0; i < states.size(); ++i)
      for (const LiveBlock& block : states[i].slots())
        if (block.is_live() && counted[i][block.heap]) sum += block.size;
    return sum;
  }
};

TEST(TraceFromProfile, each_array_is_a_block_of_its_device) {
  const auto trace = arrays(ProfileBuilder()
                                .sample("main;init", 3 * 4 * kib, 3, on_gpu)
                                .sample("main;load", 100, 1, {{"kind", "buffer"}, {"device", "TPU_3(process=0,(0,1))"}})
                                .sample("main;jit", 10 * kib, 1, {{"kind", "executable"}})
                                .unknown("main;jit2", 2, {{"kind", "executable"}}));
  ASSERT_NE(nullptr, trace);
  const Stream& stream = trace->streams.front();
  const auto& heaps = stream.definitions().heaps();
  ASSERT_EQ(3U, heaps.size());  // The first is none.
  EXPECT_EQ("arrays on cuda:0", heaps[1].name);
  EXPECT_EQ(0U, heaps[1].device);
  EXPECT_EQ(3U, heaps[2].device);
  EXPECT_EQ(3, trace->import.count_of("compiled_programs"));
  EXPECT_FALSE(heaps[1].has(wire::heap_flag::has_addresses));
  const StreamState state = stream.state_at(stream.end_position());
  std::vector<std::uint64_t> sizes;
  for (const LiveBlock& block : state.slots()) sizes.push_back(block.size);
  EXPECT_EQ((std::vector<std::uint64_t>{4 * kib, 4 * kib, 4 * kib, 100}), sizes);
}

TEST(TraceFromProfile, other_profiles_are_none) {
  EXPECT_EQ(nullptr, arrays(ProfileBuilder({{"inuse_objects", "count"}, {"inuse_space", "bytes"}})));
  const auto empty = arrays(ProfileBuilder());
  ASSERT_NE(nullptr, empty) << "a profile without arrays joins, too";
  EXPECT_EQ(1U, empty->streams.front().definitions().heaps().size());
}

TEST(JoinedProfile, counts_once_and_says_whose_the_blocks_are) {
  const auto profile = arrays(ProfileBuilder()
                                  .sample("main;init", 2 * 8000, 2, on_gpu)
                                  .sample("main;adam", 16 * kib, 1, on_gpu)
                                  .sample("main;one", 32 * kib, 1, on_gpu)
                                  .sample("main;other", 32 * kib, 1, on_gpu));
  // 8000 B are rounded to 8192; a block of 5 KiB is no array.
  const Joined job({log_of({8 * kib, 16 * kib, 8 * kib, 5 * kib, 32 * kib, 32 * kib}), profile});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 0}), job.trace.stream_processes);
  EXPECT_EQ(101 * kib, job.bytes());

  auto same = job.same_as(0, 1);
  ASSERT_EQ(1U, same.size());
  EXPECT_TRUE(same[0].is_by_size);
  EXPECT_EQ("", ambiguity_text(same[0]));
  const LiveBlock& array = job.states[1].slots()[*same[0].place.slot];
  EXPECT_EQ(16 * kib, array.size);
  EXPECT_EQ("", ambiguity_text(job.same_as(0, 0).at(0))) << "both arrays are of the same code";
  EXPECT_TRUE(job.same_as(0, 3).empty());
  same = job.same_as(0, 4);
  ASSERT_EQ(2U, same.size());
  EXPECT_EQ("ambiguous: 1 of 2 candidates", ambiguity_text(same[0]));
  EXPECT_EQ(16 * kib, job.same_as(1, *job.same_as(0, 1)[0].place.slot).at(0).place.range.size()) << "and back";

  const Profile view = profile_from_trace(job.trace, job.states);
  std::map<std::string, std::int64_t> bytes;  // By innermost function.
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const auto stack = view.stack(i);
    const std::string function =
        stack.empty() ? ""
                      : std::string(view.text(view.functions[row(view.location_lines(stack[0])[0].function)].name));
    bytes[function] += view.values[1][i];
  }
  EXPECT_EQ((std::map<std::string, std::int64_t>{{"", 69 * kib}, {"adam", 16 * kib}, {"init", 16 * kib}}), bytes);

  const auto shared = find_shared_heaps(job.trace, job.states);
  ASSERT_EQ(1U, shared.size());
  EXPECT_EQ(
      "5 of 5 blocks (95.6 KiB of 95.6 KiB) of arrays on cuda:0 are in GPU_0_bfc, found by their sizes; the code of "
      "3 blocks there is known from it",
      text_from_shared_heap(shared[0]));
}

TEST(JoinedProfile, more_blocks_than_arrays_of_a_size_are_ambiguous) {
  const auto profile =
      arrays(ProfileBuilder().sample("main;init", 8 * kib, 1, on_gpu).sample("main;adam", 2 * 16 * kib, 2, on_gpu));
  const Joined job({log_of({8 * kib, 8 * kib, 8 * kib, 16 * kib, 16 * kib}), profile});
  ASSERT_EQ((std::vector<std::uint32_t>{0, 0}), job.trace.stream_processes);
  EXPECT_EQ("ambiguous: 1 for 3 blocks of this size", ambiguity_text(job.same_as(0, 0).at(0)));
  EXPECT_EQ("", ambiguity_text(job.same_as(0, 3).at(0)));
}

TEST(JoinedProfile, of_another_job_counts_too) {
  const auto profile = arrays(ProfileBuilder().sample("main;init", 5 * 8 * kib, 5, on_gpu));
  const Joined job({log_of({16 * kib, 8 * kib, 8 * kib, 32 * kib}), profile});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 1}), job.trace.stream_processes);
  EXPECT_EQ(104 * kib, job.bytes());
  EXPECT_TRUE(job.same_as(0, 1).empty());
  EXPECT_TRUE(find_shared_heaps(job.trace, job.states).empty());
}

TEST(TraceFromProfile, a_huge_count_is_one_block) {
  const auto trace = arrays(ProfileBuilder().sample("main;init", std::int64_t{1} << 40, std::int64_t{1} << 40, on_gpu));
  const StreamState state = trace->streams[0].state_at(trace->streams[0].end_position());
  EXPECT_LE(state.slots().size(), std::size_t{1} << 21);
  EXPECT_EQ(std::uint64_t{1} << 40, state.in_use_bytes(1));
  EXPECT_GT(trace->import.count_of("arrays_together"), 0);
}

TEST(JoinedProfile, a_second_one_of_the_process_counts_no_more) {
  const auto profile = arrays(ProfileBuilder().sample("main;init", 3 * 8 * kib, 3, on_gpu));
  const auto log = log_of({8 * kib, 8 * kib, 8 * kib});
  for (const auto& traces : {std::vector{profile, profile, log}, std::vector{log, profile, profile}}) {
    const Joined job(traces);
    EXPECT_EQ((std::vector<std::uint32_t>{0, 0, 0}), job.trace.stream_processes);
    EXPECT_EQ(24 * kib, job.bytes());
  }
}

}  // namespace
}  // namespace hbmscope
