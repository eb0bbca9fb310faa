// A program as memory space assignment takes it, and what its answer means for the memory in HBM.
//
// A value takes part if it is in HBM otherwise, one operation at most writes it and no kernel touches it: kernels copy
// their blocks by themselves. What an operation takes is what the workload states, or its bytes at the bandwidth of
// HBM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/tpu/emulation/workload.h"
#include "allocator/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

// The VMEM that a program's values may have.
struct VmemShare {
  AssignmentOptions options;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t bytes_per_second = 1;
  std::vector<std::uint64_t> kernel_ns;  // By pipeline; the program's own are needed.
};

// What is not for kernels and what else operations need by themselves. `stack_bytes`: of its largest kernel.
VmemShare vmem_share_of(const Workload& workload, const Program& program, std::uint64_t stack_bytes,
                        std::uint64_t bytes_per_second, Work* work = nullptr);

// `argument_under`: by value, of an output the argument whose memory it takes.
AssignmentProblem problem_from_program(const Program& program,
                                       const std::vector<std::optional<std::uint32_t>>& argument_under,
                                       const VmemShare& share, std::uint64_t alignment);

// Operations in which a value is in HBM, both included; nothing: it never is.
struct OperationRange {
  std::size_t begin = 0, end = 0;
};
std::optional<OperationRange> hbm_range(const AssignmentProblem& problem, const Assignment& assignment,
                                        std::uint32_t value, OperationRange whole);

// By operation: of what it reads and writes, what is in VMEM.
std::vector<std::uint64_t> vmem_bytes_by_operation(const AssignmentProblem& problem, const Assignment& assignment);

// All that an operation reads and writes.
std::uint64_t touched_bytes(const Program& program, const Operation& operation);

}  // namespace hbmscope::allocator::tpu
