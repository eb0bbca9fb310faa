// Runs a workload's kernels: their buffers in VMEM, the blocks in them, and the limits that apply.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/emulated/tpu/emulation/event_log.h"
#include "allocator/emulated/tpu/emulation/pipeline.h"

namespace hbmscope::allocator::tpu {

class KernelPlayer {
 public:
  KernelPlayer(const Workload& workload, EventLog& log, Emulation& out, std::uint64_t bytes_per_second)
      : workload_(workload), log_(log), out_(out), bytes_per_second_(bytes_per_second) {}

  // What the compiler refuses in the program's kernels: a block or scratch larger than its memory, or a stack above the
  // scoped limit.
  std::optional<EmulatedFailure> find_fault(const Program& program) const;
  // The needs of the kernel that needs the most VMEM.
  std::uint64_t largest_stack_bytes(const Program& program) const;
  // `vmem_base`: where the kernel's stack begins. Returns how long HBM was idle during the kernel.
  std::uint64_t play(const Program& program, std::uint32_t pipeline, std::uint64_t vmem_base);

 private:
  struct Run;
  std::optional<EmulatedFailure> find_fault_of(const Pipeline& pipeline) const;
  std::uint64_t scoped_limit(const Pipeline& pipeline) const;

  const Workload& workload_;
  EventLog& log_;
  Emulation& out_;
  const std::uint64_t bytes_per_second_;
};

}  // namespace hbmscope::allocator::tpu
