// A kernel's blocks on their way through VMEM, as Pallas pipelines them. Each operand has a ring of buffers. While the
// body works on one block, the next blocks are copied in and the last one is copied out:
//   slot 0   |copy in a0|  body 0  |copy in a2|  body 2  |
//   slot 1              |copy in a1|  body 1  |copy in a3|
//
// Each operand has four counters (copy_in, wait_in, copy_out, wait_out) that only grow. A slot is a counter modulo the
// number of buffers. A block that the next step uses too is not copied again. A step waits for its block, begins the
// fetches that have a slot, works, begins the copy out if the block changes, and waits for the copy out before that.
//
// Sources: jax docs/pallas/tpu/pipelining.md, jax/_src/pallas/mosaic/pipeline.py. Times are modelled: copies run one
// after another at the bandwidth of HBM, and the body takes the time that the workload states.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/emulation/workload.h"

namespace hbmscope::allocator::tpu {

struct SlotPlace {
  std::uint64_t offset = 0;  // In VMEM, from the start of the kernel's stack.
  std::uint64_t bytes = 0;
};

struct PipelineFootprint {
  std::vector<std::vector<SlotPlace>> slots;  // By operand (of those in VMEM), then by slot.
  std::vector<SlotPlace> scratch;             // By Pipeline::scratch, each in its memory.
  std::uint64_t vmem_bytes = 0;               // Buffers and scratch: counted against the scoped limit.
  std::uint64_t smem_bytes = 0, accumulator_bytes = 0, tile_spmem_bytes = 0;
};
PipelineFootprint compute_footprint(const Pipeline& pipeline);

enum class PipelineEventKind : std::uint8_t {
  copy_in_begins,
  copy_in_ends,
  copy_out_begins,
  copy_out_ends,
  body_begins,
  body_ends,
  stall_begins,  // The body waits for a copy.
  stall_ends,
};
struct PipelineEvent {
  PipelineEventKind kind = PipelineEventKind::body_begins;
  std::uint64_t time_ns = 0;  // From the beginning of the kernel.
  std::uint32_t operand = 0, slot = 0, block = 0;
  std::uint64_t step = 0;
};

struct PipelineRun {
  std::vector<PipelineEvent> events;  // By time; events at the same time are in the order in which they happen.
  std::uint64_t copies_in = 0, copies_out = 0, skipped = 0;  // Skipped: the block was there already.
  std::uint64_t copied_bytes = 0;
  std::uint64_t time_ns = 0, stall_ns = 0, copy_ns = 0, body_ns = 0;  // Copies and the body overlap.
};
// `bytes_per_second` above 0.
PipelineRun run_pipeline(const Pipeline& pipeline, std::uint64_t bytes_per_second);

}  // namespace hbmscope::allocator::tpu
