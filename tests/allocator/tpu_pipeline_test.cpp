// Rings of blocks: the schedule in small cases, and random kernels compared with properties that hold for all.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "allocator/emulated/tpu/emulation/pipeline.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t bytes_per_second = 1'000'000'000;  // A byte a nanosecond.

PipelineOperand operand_of(std::vector<std::uint32_t> blocks, std::uint32_t buffers, bool is_output = false) {
  PipelineOperand operand;
  operand.name = is_output ? "o" : "x";
  operand.is_output = is_output;
  operand.block_bytes = 100;
  operand.buffers = buffers;
  operand.block_of_step = std::move(blocks);
  return operand;
}

Pipeline kernel_of(std::vector<PipelineOperand> operands, std::uint64_t compute_ns) {
  Pipeline pipeline;
  pipeline.steps = operands.front().block_of_step.size();
  pipeline.operands = std::move(operands);
  pipeline.compute_ns = compute_ns;
  return pipeline;
}

TEST(TpuPipeline, one_buffer_waits_and_two_overlap) {
  // Four blocks of 100 ns, four bodies of 100 ns.
  const PipelineRun one = run_pipeline(kernel_of({operand_of({0, 1, 2, 3}, 1)}, 100), bytes_per_second);
  EXPECT_EQ(one.time_ns, 800);
  EXPECT_EQ(one.stall_ns, 400);
  const PipelineRun two = run_pipeline(kernel_of({operand_of({0, 1, 2, 3}, 2)}, 100), bytes_per_second);
  EXPECT_EQ(two.time_ns, 500);
  EXPECT_EQ(two.stall_ns, 100);  // The first block: nothing to do meanwhile.
  EXPECT_EQ(two.copies_in, 4);
}

TEST(TpuPipeline, a_block_that_stays_is_not_copied_again) {
  const PipelineRun run =
      run_pipeline(kernel_of({operand_of({0, 0, 1, 1}, 2), operand_of({0, 0, 0, 0}, 2, true)}, 10), bytes_per_second);
  EXPECT_EQ(run.copies_in, 2);
  EXPECT_EQ(run.copies_out, 1);
  EXPECT_EQ(run.skipped, 2 + 3);
}

TEST(TpuPipeline, lookahead_finds_the_next_block_behind_steps_that_keep_theirs) {
  // The block changes at step 4; without lookahead its copy begins at step 3.
  PipelineOperand operand = operand_of({0, 0, 0, 0, 1, 1, 1, 1}, 2);
  EXPECT_EQ(run_pipeline(kernel_of({operand}, 30), bytes_per_second).stall_ns, 100 + 70);
  operand.has_lookahead = true;
  EXPECT_EQ(run_pipeline(kernel_of({operand}, 30), bytes_per_second).stall_ns, 100);
}

TEST(TpuPipeline, a_footprint_is_all_buffers_and_scratch) {
  Pipeline pipeline = kernel_of({operand_of({0, 1}, 3), operand_of({0, 1}, 2, true)}, 0);
  pipeline.scratch = {{"s", ScratchPlace::vmem, {}, 50}, {"f", ScratchPlace::smem, {}, 8}};
  const PipelineFootprint footprint = compute_footprint(pipeline);
  EXPECT_EQ(footprint.vmem_bytes, 550);
  EXPECT_EQ(footprint.smem_bytes, 8);
  EXPECT_EQ(footprint.slots[1][1].offset, 400);
}

std::size_t changes_of(const PipelineOperand& operand) {
  std::size_t changes = 1;
  for (std::size_t i = 1; i < operand.block_of_step.size(); ++i)
    changes += operand.block_of_step[i] != operand.block_of_step[i - 1] ? 1 : 0;
  return changes;
}

// Processes the events as hardware would: which block is in which slot, in flight, or in use.
class Watcher {
 public:
  explicit Watcher(const Pipeline& pipeline) : pipeline_(pipeline) {
    for (const PipelineOperand& operand : pipeline.operands) slots_.emplace_back(operand.buffers);
  }

  void take(const PipelineEvent& event) {
    EXPECT_GE(event.time_ns, now_);
    now_ = event.time_ns;
    using Kind = PipelineEventKind;
    if (event.kind == Kind::body_begins || event.kind == Kind::body_ends) {
      is_working_ = event.kind == Kind::body_begins;
      step_ = event.step;
      if (is_working_) check_body();
      return;
    }
    Slot& slot = slots_[event.operand][event.slot];
    switch (event.kind) {
      case Kind::copy_in_begins:
        EXPECT_FALSE(slot.is_moving);
        EXPECT_FALSE(is_working_ && slot.block == block_at(event.operand)) << "over the block that is worked on";
        slot = {event.block, true};
        ++copies_;
        break;
      case Kind::copy_in_ends: slot.is_moving = false; break;
      case Kind::copy_out_begins:
        EXPECT_FALSE(slot.is_moving) << "two copies out of one slot";
        slot = {event.block, true};
        ++copies_;
        break;
      case Kind::copy_out_ends: slot.is_moving = false; break;
      default: break;
    }
    if (event.kind == Kind::copy_in_begins || event.kind == Kind::copy_out_begins) {
      EXPECT_EQ(++moving_, 1);
    }
    if (event.kind == Kind::copy_in_ends || event.kind == Kind::copy_out_ends) --moving_;
  }
  std::uint64_t copies() const { return copies_; }

 private:
  struct Slot {
    std::uint32_t block = 0xffffffff;
    bool is_moving = false;
  };
  std::uint32_t block_at(std::uint32_t operand) const { return pipeline_.operands[operand].block_of_step[step_]; }

  void check_body() const {
    for (std::uint32_t i = 0; i < slots_.size(); ++i) {
      const PipelineOperand& operand = pipeline_.operands[i];
      if (operand.is_output) {
        // Blocks count their changes here.
        EXPECT_FALSE(slots_[i][block_at(i) % operand.buffers].is_moving) << "written while it is copied out";
        continue;
      }
      const bool is_there = std::any_of(slots_[i].begin(), slots_[i].end(),
                                        [&](const Slot& slot) { return slot.block == block_at(i) && !slot.is_moving; });
      EXPECT_TRUE(is_there) << "step " << step_ << " of operand " << i << " works without its block";
    }
  }

  const Pipeline& pipeline_;
  std::vector<std::vector<Slot>> slots_;
  std::uint64_t now_ = 0, step_ = 0, copies_ = 0;
  int moving_ = 0;
  bool is_working_ = false;
};

TEST(TpuPipeline, random_kernels_always_find_their_blocks) {
  for (std::uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const std::uint32_t steps = 1 + below(20);
    std::vector<PipelineOperand> operands;
    for (std::uint32_t i = 1 + below(3); i > 0; --i) {
      std::vector<std::uint32_t> blocks(1, 0);
      // Blocks are never visited again, so the watcher can tell them apart.
      for (std::uint32_t step = 1; step < steps; ++step) blocks.push_back(blocks.back() + (below(2) == 0 ? 1 : 0));
      operands.push_back(operand_of(blocks, 1 + below(4), below(3) == 0));
      operands.back().has_lookahead = !operands.back().is_output && below(2) == 0;
      operands.back().block_bytes = 1 + below(300);
    }
    const Pipeline pipeline = kernel_of(operands, below(200));
    const PipelineRun run = run_pipeline(pipeline, bytes_per_second);
    Watcher watcher(pipeline);
    for (const PipelineEvent& event : run.events) watcher.take(event);
    std::uint64_t changes = 0, bytes = 0;
    for (const PipelineOperand& operand : pipeline.operands) {
      changes += changes_of(operand);
      bytes += changes_of(operand) * operand.block_bytes;
    }
    EXPECT_EQ(watcher.copies(), changes) << "seed " << seed;
    EXPECT_EQ(run.copies_in + run.copies_out, changes);
    EXPECT_EQ(run.copied_bytes, bytes);
    EXPECT_EQ(run.time_ns, run.body_ns + run.stall_ns) << "seed " << seed;
    EXPECT_GE(run.time_ns, run.copy_ns);
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
