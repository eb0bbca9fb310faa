// Several files about one job: its memory is counted once, and compiled programs are found in the blocks of its pool.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "analysis/query/program_parts.h"
#include "analysis/query/same_memory.h"
#include "analysis/trace/join_traces.h"
#include "analysis/trace/layers.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

struct Job {
  TraceBuilder builder;
  std::uint32_t heap = 0;

  explicit Job(const std::string& source, const std::string& pid = {}) {
    builder.writer.add_job_fact("hbmscope.source", source);
    if (!pid.empty()) builder.writer.add_job_fact("pid", pid);
    wire::HeapRecord record;
    record.device = 0;
    record.layer = static_cast<std::uint8_t>(wire::Layer::chunk);
    record.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_requested;
    heap = builder.writer.define_heap(record, "GPU_0_bfc", "device");
  }
  std::shared_ptr<const Trace> trace() {
    builder.writer.flush();
    return std::make_shared<const Trace>(std::move(builder.trace));
  }
};

std::shared_ptr<const Trace> job_with_blocks(const std::string& source, std::uint64_t first, std::uint64_t blocks) {
  Job job(source);
  for (std::uint64_t i = 0; i < blocks; ++i) job.builder.alloc(job.heap, (first + i) * kib, kib);
  return job.trace();
}

std::size_t counted(const Trace& trace) {
  std::size_t heaps = 0;
  for (const std::vector<bool>& flags : find_counted_heaps(trace))
    heaps += static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
  return heaps;
}

Trace joined(const std::vector<std::shared_ptr<const Trace>>& traces) {
  return join_traces(traces);
}

TEST(JoinedFiles, equal_blocks_of_different_sources_are_one_process) {
  const Trace trace = joined({job_with_blocks("a log", 1, 10), job_with_blocks("a memory dump", 3, 10)});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 0}), trace.stream_processes);
  EXPECT_EQ(1U, counted(trace));
  std::vector<StreamState> states;
  for (const Stream& stream : trace.streams) states.push_back(stream.state_at(stream.end_position()));
  const auto same = find_same_memory(trace, states, 0, 1, {5 * kib, 6 * kib});
  ASSERT_EQ(1U, same.size());
  EXPECT_EQ(1U, same.front().stream);
  EXPECT_EQ((AddressRange{5 * kib, 6 * kib}), same.front().place.range);
  EXPECT_TRUE(find_same_memory(trace, states, 0, 1, {1 * kib, 2 * kib}).empty());  // Only in the log.
}

// A log and what else the job printed are one trace before a dump joins them.
TEST(JoinedFiles, joined_traces_can_be_joined_again) {
  auto log = std::make_shared<const Trace>(joined({job_with_blocks("a log", 1, 10), job_with_blocks("output", 50, 0)}));
  const Trace trace = joined({log, job_with_blocks("a memory dump", 3, 10)});
  ASSERT_EQ(3U, trace.streams.size());
  EXPECT_EQ(10 * kib, trace.streams[0].peak(1).in_use_bytes);
  EXPECT_EQ(10U, trace.streams[0].counts().alloc);
}

TEST(JoinedFiles, ranks_with_equal_blocks_stay_apart) {
  const Trace trace = joined({job_with_blocks("a log", 1, 10), job_with_blocks("a log", 1, 10)});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 1}), trace.stream_processes);
  EXPECT_EQ(2U, counted(trace));
}

TEST(JoinedFiles, each_rank_gets_one_file_of_a_source) {
  const Trace trace =
      joined({job_with_blocks("a log", 1, 10), job_with_blocks("a log", 100, 10), job_with_blocks("a dump", 100, 10),
              job_with_blocks("a dump", 1, 10), job_with_blocks("a dump", 1, 10)});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 1, 1, 0, 2}), trace.stream_processes);
}

TEST(JoinedFiles, few_equal_blocks_are_chance) {
  const Trace trace = joined({job_with_blocks("a log", 1, 10), job_with_blocks("a dump", 8, 10)});
  EXPECT_EQ((std::vector<std::uint32_t>{0, 1}), trace.stream_processes);
}

// A plan of an argument of 4 KiB and an arena of 12 KiB with two values.
std::shared_ptr<const Trace> program() {
  TraceBuilder builder;
  builder.writer.add_job_fact("hlo_module", "jit_step(17)");
  wire::HeapRecord record;
  record.device = wire::no_device;
  record.layer = static_cast<std::uint8_t>(wire::Layer::program);
  record.flags = wire::heap_flag::has_addresses | wire::heap_flag::has_regions;
  const std::uint32_t heap = builder.writer.define_heap(record, "DEVICE", "device");
  builder.grow(heap, 0, 4 * kib);
  builder.grow(heap, 4 * kib, 12 * kib);
  const auto add = [&](std::uint64_t address, std::uint64_t size, const char* tag, const char* kind) {
    wire::AllocRecord block;
    block.address = address;
    block.size = block.requested = size;
    block.heap = heap;
    block.tag = builder.writer.define_string(tag);
    wire::AttributeRecord attribute;
    attribute.allocation = builder.writer.alloc(block, 0);
    attribute.key = builder.writer.define_string("kind");
    attribute.value = builder.writer.define_string(kind);
    builder.writer.add(attribute, 0);
  };
  add(0, 4 * kib, "w", "argument");
  add(4 * kib, 8 * kib, "dot", "temporary");
  add(12 * kib, 4 * kib, "tanh", "temporary");
  builder.free(heap, 4 * kib);
  builder.writer.flush();
  return std::make_shared<const Trace>(std::move(builder.trace));
}

TEST(ProgramParts, a_block_of_the_size_of_the_arena_opens_into_its_values) {
  Job job("a profile");
  job.builder.alloc(job.heap, 0x1000'0000, 12 * kib);
  job.builder.alloc(job.heap, 0x2000'0000, 4 * kib);
  job.builder.alloc(job.heap, 0x3000'0000, 5 * kib);
  const Trace trace = joined({job.trace(), program()});
  const ProgramParts parts(trace);
  const StreamState state = trace.streams[0].state_at(trace.streams[0].end_position());
  std::vector<std::vector<ProgramPart>> found;
  for (const LiveBlock& block : state.slots()) found.push_back(parts.find(0, block));
  ASSERT_EQ(3U, found.size());
  EXPECT_EQ("temporaries of jit_step(17)", text_from_parts(found[0]));
  EXPECT_EQ("argument w of jit_step(17)", text_from_parts(found[1]));
  EXPECT_TRUE(found[2].empty());
  const std::vector<ProgramValue> values = find_program_values(trace, found[0].front());
  ASSERT_EQ(2U, values.size());
  EXPECT_EQ(0U, values[0].offset);
  EXPECT_EQ(8 * kib, values[0].size);
  EXPECT_EQ(8 * kib, values[1].offset);
  EXPECT_LT(values[0].end, values[1].end);
  EXPECT_EQ("dot", trace.streams[1].definitions().text(values[0].tag));
  // The plan lies in the pool, so its bytes are not added.
  EXPECT_EQ(1U, counted(trace));
}

TEST(ProgramParts, equal_programs_are_all_named) {
  Job job("a profile");
  job.builder.alloc(job.heap, 0x1000'0000, 12 * kib);
  const Trace trace = joined({job.trace(), program(), program()});
  const StreamState state = trace.streams[0].state_at(trace.streams[0].end_position());
  const auto found = ProgramParts(trace).find(0, *state.slots().begin());
  EXPECT_EQ(2U, found.size());
  EXPECT_EQ("temporaries of jit_step(17)", text_from_parts(found));  // Two compilations of one name.
}

}  // namespace
}  // namespace hbmscope
