#include "allocator/emulated/tpu/emulation/pipeline.h"

#include <algorithm>

namespace hbmscope::allocator::tpu {
namespace {

// The ring of one operand.
struct Ring {
  std::uint64_t copy_in = 0, wait_in = 0, copy_out = 0, wait_out = 0;
  std::uint64_t next_fetch = 0;                  // The first step whose block was not yet considered for a fetch.
  std::vector<std::uint64_t> in_ends, out_ends;  // Times, by copy.
};

class Runner {
 public:
  Runner(const Pipeline& pipeline, std::uint64_t bytes_per_second)
      : pipeline_(pipeline), bytes_per_second_(bytes_per_second), rings_(pipeline.operands.size()) {}

  PipelineRun run() {
    for (std::uint32_t i = 0; i < rings_.size(); ++i)
      if (is_fetched(i)) begin_fetches(i, std::max<std::uint64_t>(operand(i).buffers - 1, 1));
    for (std::uint64_t step = 0; step < pipeline_.steps; ++step) run_step(step);
    for (std::uint32_t i = 0; i < rings_.size(); ++i) wait_out(i, rings_[i].copy_out, pipeline_.steps - 1);
    run_.time_ns = now_;
    std::stable_sort(run_.events.begin(), run_.events.end(),
                     [](const PipelineEvent& a, const PipelineEvent& b) { return a.time_ns < b.time_ns; });
    return std::move(run_);
  }

 private:
  const PipelineOperand& operand(std::uint32_t i) const { return pipeline_.operands[i]; }
  bool is_fetched(std::uint32_t i) const { return !operand(i).is_output && !operand(i).is_scalar; }

  // Whether a step uses a different block than the step before it.
  bool changes_at(std::uint32_t i, std::uint64_t step) const {
    const auto& blocks = operand(i).block_of_step;
    return step == 0 || blocks[step] != blocks[step - 1];
  }

  void add(PipelineEventKind kind, std::uint64_t time_ns, std::uint32_t i, std::uint64_t counter, std::uint64_t step) {
    run_.events.push_back({kind, time_ns, i, static_cast<std::uint32_t>(counter % operand(i).buffers),
                           operand(i).block_of_step[step], step});
  }

  // Copies run one after another. Returns the time at which this one ends.
  std::uint64_t copy(std::uint32_t i, std::uint64_t counter, std::uint64_t step, PipelineEventKind begins,
                     PipelineEventKind ends) {
    const std::uint64_t begin = std::max(now_, copies_end_);
    const double seconds = static_cast<double>(operand(i).block_bytes) / static_cast<double>(bytes_per_second_);
    const auto takes = static_cast<std::uint64_t>(seconds * 1e9 + 0.5);
    copies_end_ = begin + takes;
    run_.copy_ns += takes;
    run_.copied_bytes += operand(i).block_bytes;
    add(begins, begin, i, counter, step);
    add(ends, copies_end_, i, counter, step);
    return copies_end_;
  }

  // Goes through the steps up to `end` (exclusive) and fetches each block that is new.
  void begin_fetches(std::uint32_t i, std::uint64_t end) {
    Ring& ring = rings_[i];
    for (; ring.next_fetch < std::min(end, pipeline_.steps); ++ring.next_fetch) fetch(i);
  }

  void fetch(std::uint32_t i) {
    Ring& ring = rings_[i];
    if (!changes_at(i, ring.next_fetch)) {
      ++run_.skipped;
      return;
    }
    ring.in_ends.push_back(
        copy(i, ring.copy_in, ring.next_fetch, PipelineEventKind::copy_in_begins, PipelineEventKind::copy_in_ends));
    ++ring.copy_in;
    ++run_.copies_in;
  }

  // Fetches ahead as far as the ring has free slots; the current block holds one.
  void look_ahead(std::uint32_t i) {
    Ring& ring = rings_[i];
    while (ring.next_fetch < pipeline_.steps) {
      const bool needs_slot = changes_at(i, ring.next_fetch);
      if (needs_slot && ring.copy_in - (ring.wait_in - 1) >= operand(i).buffers) return;
      fetch(i);
      ++ring.next_fetch;
    }
  }

  void stall_until(std::uint64_t time_ns, std::uint32_t i, std::uint64_t counter, std::uint64_t step) {
    if (time_ns <= now_) return;
    add(PipelineEventKind::stall_begins, now_, i, counter, step);
    add(PipelineEventKind::stall_ends, time_ns, i, counter, step);
    run_.stall_ns += time_ns - now_;
    now_ = time_ns;
  }

  // Waits until all copies out before the counter have ended.
  void wait_out(std::uint32_t i, std::uint64_t counter, std::uint64_t step) {
    Ring& ring = rings_[i];
    for (; ring.wait_out < counter; ++ring.wait_out) stall_until(ring.out_ends[ring.wait_out], i, ring.wait_out, step);
  }

  void take_in(std::uint32_t i, std::uint64_t step) {
    Ring& ring = rings_[i];
    const bool is_single = operand(i).buffers == 1;
    if (is_single) begin_fetches(i, step + 1);  // No earlier fetch was possible, because the only slot was in use.
    if (changes_at(i, step)) {
      stall_until(ring.in_ends[ring.wait_in], i, ring.wait_in, step);
      ++ring.wait_in;
    }
    if (is_single) return;
    if (operand(i).has_lookahead)
      look_ahead(i);
    else
      begin_fetches(i, step + operand(i).buffers);
  }

  void run_step(std::uint64_t step) {
    for (std::uint32_t i = 0; i < rings_.size(); ++i) {
      if (is_fetched(i)) take_in(i, step);
      if (operand(i).is_output && operand(i).buffers == 1) wait_out(i, rings_[i].copy_out, step);
    }
    run_.events.push_back({PipelineEventKind::body_begins, now_, 0, 0, 0, step});
    now_ += pipeline_.compute_ns;
    run_.body_ns += pipeline_.compute_ns;
    run_.events.push_back({PipelineEventKind::body_ends, now_, 0, 0, 0, step});
    for (std::uint32_t i = 0; i < rings_.size(); ++i) {
      if (!operand(i).is_output) continue;
      const bool is_done = step + 1 == pipeline_.steps || changes_at(i, step + 1);
      if (is_done)
        put_out(i, step);
      else
        ++run_.skipped;
    }
  }

  void put_out(std::uint32_t i, std::uint64_t step) {
    Ring& ring = rings_[i];
    ring.out_ends.push_back(
        copy(i, ring.copy_out, step, PipelineEventKind::copy_out_begins, PipelineEventKind::copy_out_ends));
    ++ring.copy_out;
    ++run_.copies_out;
    if (ring.copy_out > 1) wait_out(i, ring.copy_out - 1, step);  // The previous copy out: its slot is used next.
  }

  const Pipeline& pipeline_;
  const std::uint64_t bytes_per_second_;
  std::vector<Ring> rings_;
  std::uint64_t now_ = 0, copies_end_ = 0;
  PipelineRun run_;
};

}  // namespace

PipelineFootprint compute_footprint(const Pipeline& pipeline) {
  PipelineFootprint footprint;
  const auto place = [](std::uint64_t& end, std::uint64_t bytes) {
    const SlotPlace slot{end, bytes};
    end += bytes;
    return slot;
  };
  for (const PipelineOperand& operand : pipeline.operands) {
    std::uint64_t& end = operand.is_scalar ? footprint.smem_bytes : footprint.vmem_bytes;
    auto& slots = footprint.slots.emplace_back();
    for (std::uint32_t i = 0; i < operand.buffers; ++i) slots.push_back(place(end, operand.block_bytes));
  }
  for (const Scratch& scratch : pipeline.scratch) {
    std::uint64_t& end = scratch.place == ScratchPlace::vmem          ? footprint.vmem_bytes
                         : scratch.place == ScratchPlace::smem        ? footprint.smem_bytes
                         : scratch.place == ScratchPlace::accumulator ? footprint.accumulator_bytes
                                                                      : footprint.tile_spmem_bytes;
    footprint.scratch.push_back(place(end, scratch.bytes));
  }
  return footprint;
}

PipelineRun run_pipeline(const Pipeline& pipeline, std::uint64_t bytes_per_second) {
  return Runner(pipeline, bytes_per_second).run();
}

}  // namespace hbmscope::allocator::tpu
