// Translates a program into the input of memory space assignment, and the result into HBM lifetimes.
//
// A value takes part if its place is HBM, at most one operation writes it and no kernel touches it (kernels copy their
// blocks themselves). An operation takes the time that the workload states, or its bytes at the bandwidth of HBM.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "allocator/emulated/tpu/emulation/workload.h"
#include "allocator/emulated/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

// The VMEM that a program's values may have.
struct VmemShare {
  AssignmentOptions options;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t bytes_per_second = 1;
  std::vector<std::uint64_t> kernel_ns;  // By pipeline; only those of the program are needed.
};

// The VMEM that kernels and operations do not need themselves. `stack_bytes`: the stack of the program's largest
// kernel.
VmemShare vmem_share_of(const Workload& workload, const Program& program, std::uint64_t stack_bytes,
                        std::uint64_t bytes_per_second, Work* work = nullptr);

// `argument_under`: by value; for an output, the argument whose memory it takes.
AssignmentProblem problem_from_program(const Program& program,
                                       const std::vector<std::optional<std::uint32_t>>& argument_under,
                                       const VmemShare& share, std::uint64_t alignment);

// Operations during which a value is in HBM, both inclusive; no value: never.
struct OperationRange {
  std::size_t begin = 0, end = 0;
};
std::optional<OperationRange> hbm_range(const AssignmentProblem& problem, const Assignment& assignment,
                                        std::uint32_t value, OperationRange whole);

// By operation: the bytes in VMEM that it reads or writes.
std::vector<std::uint64_t> vmem_bytes_by_operation(const AssignmentProblem& problem, const Assignment& assignment);

// All bytes that an operation reads and writes.
std::uint64_t touched_bytes(const Program& program, const Operation& operation);

}  // namespace hbmscope::allocator::tpu
