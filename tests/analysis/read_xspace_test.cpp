// Profiles of XLA's profiler: events of the allocator in the order of its own figures, over threads and losses.
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/query/heap_rows.h"
#include "analysis/read/gzip.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/xspace/event_chain.h"
#include "analysis/read/xspace/trace_from_xspace.h"
#include "analysis/read/xspace/xspace.h"
#include "analysis/trace/trace_writer.h"
#include "tests/analysis/text_bytes.h"
#include "tests/analysis/xspace_by_hand.h"

namespace hbmscope {
namespace {

using tests::Message;
using tests::PlaneByHand;

Trace trace_of(PlaneByHand& plane) {
  auto trace = read_xspace(bytes_of(Message().add(1, plane.message()).bytes), "vm.xplane.pb");
  if (trace) return std::move(*trace);
  ADD_FAILURE() << trace.error().text();
  Trace none;
  none.streams.emplace_back();
  return none;
}

// In use in a heap after each event that changes it.
std::vector<std::uint64_t> in_use_over_time(const Trace& trace, std::uint32_t heap = 1) {
  const Stream& stream = trace.streams.front();
  std::vector<std::uint64_t> values;
  for (std::uint64_t position = 0; position <= stream.end_position(); ++position) {
    const std::uint64_t bytes = stream.state_at(position).in_use_bytes(heap);
    if (values.empty() || values.back() != bytes) values.push_back(bytes);
  }
  return values;
}

TEST(XSpaceReader, events_of_all_threads_follow_the_allocators_figures) {
  PlaneByHand plane("/host:CPU");
  plane.line(1000);
  plane.alloc(10, {0x1000, 256, 256});
  plane.alloc(30, {0x3000, 1024, 1280});  // At the same time as the other thread's free, after it.
  plane.free(40, {0x3000, 1024, 256});
  plane.line(1000);
  plane.alloc(20, {0x2000, 512, 768});
  plane.free(30, {0x2000, 512, 256});
  const Trace trace = trace_of(plane);
  EXPECT_EQ((std::vector<std::uint64_t>{0, 256, 768, 256, 1280, 256}), in_use_over_time(trace));
  EXPECT_EQ(5, trace.import.count_of("checked_figures"));
  EXPECT_EQ(1, trace.import.count_of("reordered_events"));
  EXPECT_EQ(0, trace.import.count_of("gaps"));
  const HeapInfo& heap = trace.streams.front().definitions().heap(1);
  EXPECT_EQ("GPU_0_bfc", heap.name);
  EXPECT_EQ(0U, heap.device);
  EXPECT_EQ(1U << 20, find_reported(trace.streams.front(), "limit_bytes", 1, trace.streams.front().end_position()));
}

TEST(XSpaceReader, memory_from_before_the_profile_is_counted) {
  PlaneByHand plane("/host:CPU");
  plane.line();
  plane.alloc(10, {0x9000, 256, 5256});
  plane.free(20, {0x1000, 1000, 4256});  // Allocated before.
  plane.free(30, {0x9000, 256, 4000});
  const Trace trace = trace_of(plane);
  EXPECT_EQ((std::vector<std::uint64_t>{5000, 5256, 4256, 4000}), in_use_over_time(trace));
  EXPECT_EQ(1, trace.import.count_of("older_blocks"));
  EXPECT_EQ(4000, trace.import.count_of("bytes_before_profile"));
}

TEST(XSpaceReader, lost_events_are_gaps_after_which_the_figures_hold) {
  PlaneByHand plane("/host:CPU");
  plane.line();
  plane.alloc(10, {0x1000, 256, 256});
  // Two allocations are missing, 512 and 1024 bytes; only the first is freed.
  plane.alloc(50, {0x2000, 256, 2048});
  plane.free(60, {0x5000, 512, 1536});
  plane.free(70, {0x2000, 256, 1280});
  const Trace trace = trace_of(plane);
  EXPECT_EQ((std::vector<std::uint64_t>{0, 256, 768, 1792, 2048, 1536, 1280}), in_use_over_time(trace));
  EXPECT_EQ(1, trace.import.count_of("gaps"));
  EXPECT_EQ(0, trace.import.count_of("older_blocks"));
  EXPECT_TRUE(compute_heap_rows(trace, compute_states(trace, *find_moment(trace, "end"))).front().is_inexact);
}

TEST(XSpaceReader, stacks_steps_operations_and_shapes) {
  PlaneByHand plane("/host:CPU");
  plane.line(500);
  plane.span("$train.py:12 main", 0, 1000);
  plane.step("train", 3, 5, 500);
  plane.span("$pjit.py:88 cache_miss", 8, 200);
  plane.span("CommonPjRtLoadedExecutable::Execute (jit_step)", 10, 100);
  plane.alloc(20, {0x1000, 256, 256, "matmul", "[8,8]"});
  plane.span("$builtins len", 150, 10);
  plane.alloc(400, {0x2000, 256, 512});
  const Trace trace = trace_of(plane);
  const Stream& stream = trace.streams.front();
  const Definitions& definitions = stream.definitions();
  const auto stack_text = [&](std::uint32_t stack) {
    std::string text;
    for (; stack != 0; stack = definitions.stack(stack).parent) {
      const TraceFrame frame = definitions.frame(definitions.stack(stack).frame);
      text += fmt::format("{}{} {}:{}", text.empty() ? "" : " < ", definitions.text(frame.function),
                          definitions.text(frame.file), frame.line);
    }
    return text;
  };
  std::vector<std::string> stacks;
  const StreamState end = stream.state_at(stream.end_position());
  for (const LiveBlock& block : end.slots())
    if (block.is_live()) stacks.push_back(stack_text(block.stack));
  ASSERT_EQ(2U, stacks.size());
  EXPECT_EQ(
      "CommonPjRtLoadedExecutable::Execute (jit_step) <operator>:0 < cache_miss jax/pjit.py:88 < train "
      "<operator>:0 < main train.py:12",
      stacks[0]);
  EXPECT_EQ("train <operator>:0 < main train.py:12", stacks[1]);
}

TEST(XSpaceReader, lines_out_of_order_are_sorted) {
  PlaneByHand plane("/host:CPU");
  plane.line();
  plane.free(30, {0x1000, 256, 0});
  plane.span("f", 5, 100);
  plane.alloc(10, {0x1000, 256, 256});
  const Trace trace = trace_of(plane);
  EXPECT_EQ((std::vector<std::uint64_t>{0, 256, 0}), in_use_over_time(trace));
  EXPECT_EQ(3, trace.import.count_of("profiler_events"));
}

TEST(XSpaceReader, memory_of_the_driver_is_counted) {
  PlaneByHand device("/device:GPU:0");
  device.line();
  device.device_event("MemAlloc", 5, "memalloc_details", "kind:device num_bytes:4096");
  device.device_event("MemFree", 9, "MemFree_details", "kind:device num_bytes:0");
  device.device_event("Memory device", 6, "MemoryResidency_details",
                      "kind:device num_bytes:2097152 addr:0x00007f0000000000");
  PlaneByHand host("/host:CPU");
  host.line();
  host.alloc(10, {0x1000, 256, 256});
  const auto trace = read_xspace(bytes_of(Message().add(1, device.message()).add(1, host.message()).bytes), "x");
  ASSERT_TRUE(trace);
  EXPECT_EQ(2, trace->import.count_of("driver_allocations"));
  EXPECT_EQ(1, trace->import.count_of("driver_frees"));
  EXPECT_EQ((std::vector<std::uint64_t>{0, 256}), in_use_over_time(*trace));
}

TEST(XSpaceReader, a_file_that_is_cut_off_keeps_its_whole_planes) {
  PlaneByHand plane("/host:CPU");
  plane.line();
  plane.alloc(10, {0x1000, 256, 256});
  const std::string whole = Message().add(1, plane.message()).bytes;
  const auto cut_later = read_xspace(bytes_of(whole + Message().add(1, plane.message()).bytes.substr(0, 40)), "x");
  ASSERT_TRUE(cut_later);
  EXPECT_EQ(1, cut_later->import.count_of("cut_off"));
  EXPECT_EQ((std::vector<std::uint64_t>{0, 256}), in_use_over_time(*cut_later));
  const auto cut_inside = read_xspace(bytes_of(whole.substr(0, whole.size() - 20)), "x");
  ASSERT_FALSE(cut_inside);
  EXPECT_NE(std::string::npos, cut_inside.error().text().find("cut off"));
}

TEST(XSpaceReader, a_profile_without_memory_says_what_to_do) {
  PlaneByHand plane("/host:CPU");
  plane.line();
  plane.span("f", 5, 100);
  const auto trace = read_xspace(bytes_of(Message().add(1, plane.message()).bytes), "x");
  ASSERT_FALSE(trace);
  EXPECT_NE(std::string::npos, trace.error().text().find("neither events of an allocator nor compiled programs"));
}

// Files of real jobs; skipped where the folder is missing.
class XSpaceRecorded : public testing::TestWithParam<const char*> {};

TEST_P(XSpaceRecorded, every_event_leaves_what_the_allocator_reports) {
  const char* const named = std::getenv("HBMSCOPE_DATA");
  const std::filesystem::path file = std::filesystem::path(named != nullptr ? named : "../shared/data") / GetParam();
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no " << GetParam() << " (HBMSCOPE_DATA names the folder)";
  const auto source = read_source(file.string(), {});
  ASSERT_TRUE(source) << source.error().text();
  EXPECT_EQ(0, source->trace->import.count_of("gaps"));

  // The same bytes, read without a trace.
  auto bytes = InputFile::open(file.string(), std::uint64_t{1} << 30);
  ASSERT_TRUE(bytes);
  ImportStatistics import;
  const auto content = unzip(*bytes->bytes(), "x", std::uint64_t{1} << 30, import);
  ASSERT_TRUE(content);
  TraceWriter unused({});
  xspace::SpanFrames frames(unused.events());
  xspace::Events events;
  ASSERT_TRUE(xspace::read_events(xspace::index_planes(content->bytes), frames, unused.events(), nullptr, events));
  ASSERT_FALSE(events.memory.empty());
  const xspace::Chain chain = xspace::order_events(events.memory, events.allocators.size());
  for (std::uint32_t allocator = 0; allocator < events.allocators.size(); ++allocator) {
    std::vector<std::uint64_t> reported;
    for (const std::uint32_t i : chain.order)
      if (const xspace::MemoryEvent& event = events.memory[i]; event.allocator == allocator) {
        if (reported.empty()) reported.push_back(xspace::in_use_before(event));
        reported.push_back(event.in_use);
      }
    EXPECT_EQ(reported, in_use_over_time(*source->trace, allocator + 1));
  }
}

INSTANTIATE_TEST_SUITE_P(Files, XSpaceRecorded,
                         testing::Values("wild/xp_tl_te.xplane.pb", "jax/tf_cpu_bfc_small.xplane.pb.gz"));

}  // namespace
}  // namespace hbmscope
