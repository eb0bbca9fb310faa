// Cases that tests/trace/report_vs_python.py, which compares the blocks of whole files with Python, can't create:
// blocks that move, blocks older than the stream, blocks listed again in other slots, and jobs with other facts.
#include "analysis/query/block_diff.h"

#include <gtest/gtest.h>

#include "analysis/query/job_facts.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

TEST(BlockDiff, moved_is_the_same_allocation_at_another_address) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), stack = built.stack("main;step");
  built.live(heap, 0x1000, 10, stack);
  built.live(heap, 0x2000, 20, stack);
  built.alloc(heap, 0x3000, 40, stack);
  built.alloc(heap, 0x4000, 80, built.stack("main;other"));
  const auto before = built.states_at();
  wire::MoveRecord move;
  move.slot = 2;
  move.address = 0x9000;
  built.writer.add(move, built.time_ns);
  built.free(heap, 0x1000);
  built.free(heap, 0x4000);
  built.alloc(heap, 0x1000, 10, stack);  // The same size and address, but another block.
  const auto after = built.states_at();
  const auto diff = compute_block_diff({built.trace, before}, {built.trace, after});
  EXPECT_TRUE(diff->is_by_id);
  EXPECT_EQ((BlockChange{1, 40, 40}), diff->changes.moved);
  EXPECT_EQ((BlockChange{1, 20, 20}), diff->changes.unchanged);
  EXPECT_EQ((BlockChange{2, 90, 0}), diff->changes.gone);
  EXPECT_EQ((BlockChange{1, 0, 10}), diff->changes.added);
  EXPECT_EQ(-80, diff->changes.delta_bytes());
  ASSERT_EQ(2U, diff->user_code.size());
  EXPECT_EQ("other", diff->user_code[0].function);
  EXPECT_EQ(-80, diff->user_code[0].changes.delta_bytes());
  EXPECT_EQ("step", diff->user_code[1].function);
  EXPECT_EQ(7U, diff->user_code[1].line);
  EXPECT_EQ(0, diff->user_code[1].changes.delta_bytes());
}

TEST(BlockDiff, a_new_listing_in_other_slots_keeps_the_ids) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0);
  for (std::uint64_t i = 1; i <= 3; ++i) built.alloc(heap, i * 0x1000, i);
  const auto before = built.states_at();
  const auto listing = [&](std::uint8_t phase) {
    wire::ListingRecord record;
    record.heap = heap;
    record.phase = phase;
    built.writer.add(record, built.time_ns);
  };
  listing(0);
  for (std::uint32_t slot = 0; slot < 2; ++slot) {  // The first of the three was lost.
    wire::LiveRecord record;
    record.heap = heap;
    record.slot = slot;
    record.event = 2 - slot;
    record.size = record.event + 1;
    record.address = record.size * 0x1000;
    built.writer.add(record, built.time_ns);
  }
  listing(1);
  const auto after = built.states_at();
  const auto diff = compute_block_diff({built.trace, before}, {built.trace, after});
  EXPECT_EQ(2U, diff->changes.unchanged.count);
  EXPECT_EQ((BlockChange{1, 1, 0}), diff->changes.gone);
  EXPECT_EQ(0U, diff->changes.added.count);
}

TEST(BlockDiff, two_traces_are_matched_by_stack_and_size_and_a_rest_by_rank) {
  TraceBuilder a, b;
  for (TraceBuilder* built : {&a, &b}) {
    const std::uint32_t heap = built->heap("GPU 0", 0);
    if (built == &b) built->stack("something;else");  // Other numbers for the same stacks.
    const std::uint32_t step = built->stack("main;step"), other = built->stack("main;other");
    std::uint64_t address = 0;
    const std::vector<std::uint64_t> sizes =
        built == &a ? std::vector<std::uint64_t>{5, 5, 9, 30} : std::vector<std::uint64_t>{5, 10, 20};
    for (const std::uint64_t size : sizes) built->alloc(heap, address += 0x1000, size, step);
    built->alloc(heap, address += 0x1000, 7, built == &a ? step : other);
  }
  const auto before = a.states_at(), after = b.states_at();
  const auto diff = compute_block_diff({a.trace, before}, {b.trace, after});
  EXPECT_FALSE(diff->is_by_id);
  EXPECT_EQ((BlockChange{1, 5, 5}), diff->changes.unchanged);
  EXPECT_EQ((BlockChange{1, 30, 20}), diff->changes.shrunk);
  EXPECT_EQ((BlockChange{1, 9, 10}), diff->changes.grown);
  EXPECT_EQ((BlockChange{2, 12, 0}), diff->changes.gone);
  EXPECT_EQ((BlockChange{1, 0, 7}), diff->changes.added);
  EXPECT_EQ(0U, diff->changes.moved.count);
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(compute_block_diff({a.trace, before}, {b.trace, after}, &cancelled));
  EXPECT_FALSE(compute_block_diff({a.trace, before}, {a.trace, before}, &cancelled));
}

TEST(BlockDiff, of_two_traces_a_function_has_the_line_that_changed_the_most) {
  TraceBuilder a, b;
  for (TraceBuilder* built : {&a, &b}) {
    const std::uint32_t heap = built->heap("pool", 0);
    const auto at_line = [&](std::uint32_t line) {
      return built->writer.define_stack(0, built->writer.define_frame("forward", "/home/me/gpt.py", line));
    };
    const std::uint32_t first = at_line(23), second = at_line(25);
    for (std::uint64_t i = 0; i < 4; ++i) built->alloc(heap, i * kib, kib, first);
    for (std::uint64_t i = 0; i < (built == &a ? 1 : 9); ++i) built->alloc(heap, mib + i * kib, kib, second);
  }
  const auto before = a.states_at(), after = b.states_at();
  const auto diff = compute_block_diff({a.trace, before}, {b.trace, after});
  ASSERT_EQ(1U, diff->user_code.size());
  EXPECT_EQ(25U, diff->user_code[0].line);
  EXPECT_EQ(8U, diff->user_code[0].changes.added.count);
  EXPECT_EQ(5U, diff->user_code[0].changes.unchanged.count);
}

TEST(BlockDiff, handles_count_as_blocks_do) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", 0), stack = built.stack("main;step");
  built.create(heap, 1, 10, stack);
  built.create(heap, 2, 20, stack);
  built.import(heap, 3, 1000);
  const auto before = built.states_at();
  built.release(1);
  built.create(heap, 1, 10, stack);  // The driver's number again, another handle.
  built.create(heap, 4, 80, built.stack("main;other"));
  const auto after = built.states_at();
  const auto diff = compute_block_diff({built.trace, before}, {built.trace, after});
  EXPECT_EQ((BlockChange{1, 20, 20}), diff->changes.unchanged);
  EXPECT_EQ((BlockChange{1, 10, 0}), diff->changes.gone);
  EXPECT_EQ((BlockChange{2, 0, 90}), diff->changes.added);
  ASSERT_EQ(2U, diff->user_code.size());
  EXPECT_EQ("other", diff->user_code[0].function);
  EXPECT_EQ(80, diff->user_code[0].changes.delta_bytes());
}

TEST(BlockDiff, handles_of_two_traces_are_matched_with_handles) {
  TraceBuilder a, b;
  for (TraceBuilder* built : {&a, &b}) {
    const std::uint32_t heap = built->heap("GPU 0", 0), stack = built->stack("main;step");
    built->create(heap, 1, 10, stack);
    built->create(heap, 2, built == &a ? 20 : 25, stack);
    if (built == &a)
      built->create(heap, 3, 7, stack);
    else
      built->alloc(heap, 0x1000, 7, stack);
  }
  const auto before = a.states_at(), after = b.states_at();
  const auto diff = compute_block_diff({a.trace, before}, {b.trace, after});
  EXPECT_EQ((BlockChange{1, 10, 10}), diff->changes.unchanged);
  EXPECT_EQ((BlockChange{1, 20, 25}), diff->changes.grown);
  EXPECT_EQ((BlockChange{1, 7, 0}), diff->changes.gone);
  EXPECT_EQ((BlockChange{1, 0, 7}), diff->changes.added);
}

TEST(Settings, what_differs_in_the_order_of_now) {
  TraceBuilder a, b;
  a.writer.add_job_fact("hbmscope.source", "Test");
  a.writer.add_job_fact("command", "train.py --lr 1");
  a.writer.add_job_fact("same", "x");
  a.writer.add_job_fact("only before", "y");
  a.heap("GPU 0", 0);
  b.writer.add_job_fact("hbmscope.source", "Other");
  b.writer.add_job_fact("same", "x");
  b.writer.add_job_fact("same", "x");
  b.writer.add_job_fact("command", "train.py --lr 2");
  b.heap("GPU 0", 0);
  b.heap("GPU 1", 0);
  a.writer.flush();
  b.writer.flush();
  std::string text;
  for (const SettingChange& change : compare_settings(a.trace, b.trace))
    text += change.key + ": " + change.baseline.value_or("-") + " -> " + change.now.value_or("-") + "\n";
  EXPECT_EQ(
      "command: train.py --lr 1 -> train.py --lr 2\nheaps: GPU 0 -> GPU 0, GPU 1\n"
      "only before: y -> -\n",
      text);
  EXPECT_TRUE(compare_settings(a.trace, a.trace).empty());
}

}  // namespace
}  // namespace hbmscope
