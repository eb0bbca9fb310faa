// The work of a TPU: arrays on it, programs that read and write them, kernels that move blocks through VMEM, and the
// steps in which all this happens. Every number is final: the reader of a description has already evaluated its loops
// and formulas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator/emulated/tpu/emulation/mesh.h"
#include "allocator/emulated/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

// The source of an emulation's figures.
enum class FigureKind : std::uint8_t {
  emulated,  // By rules that are public or visible in the compiler's output.
  assumed,   // By a parameter of the workload, or by a rule that is not published.
  modelled,  // A time: bytes at the generation's bandwidth, and the times that the workload states.
};

struct Array {
  std::string name;
  std::uint32_t line = 0;  // In its description. Without one it is 0.
  ArraySpec spec;
  Shard shard;
};

enum class Role : std::uint8_t { argument, output, temporary };

struct Value {
  Array array;  // Its name is that of the value.
  Role role = Role::temporary;
  std::string binds;  // For arguments and outputs: the array outside the program.
  bool is_donated = false;
  bool may_stay = true;  // For an argument: may stay in VMEM from run to run.
};

struct Operation {
  std::string name;
  std::string segment;  // In the forward pass, operations of the same segment are checkpointed together.
  std::vector<std::uint32_t> reads, writes;
  bool is_dot = false;                    // A matrix product, which the policy `dots` keeps.
  bool writes_in_place = false;           // May overwrite a value that it reads for the last time.
  std::optional<std::uint32_t> pipeline;  // Set if the operation is a kernel.
  std::uint64_t compute_ns = 0;           // As the workload states it. At 0 memory traffic determines it.
};

struct Program {
  std::string name;
  std::vector<Value> values;
  std::vector<Operation> operations;        // In the order in which they run.
  std::optional<std::uint64_t> code_bytes;  // No value: not stated. No rule computes it.
};

// One operand of a kernel's grid, in blocks.
struct PipelineOperand {
  std::string name;
  bool is_output = false;
  bool is_scalar = false;  // In SMEM, as a whole, before the first step.
  bool has_lookahead = false;
  Shape block;
  std::uint64_t block_bytes = 0;
  std::uint32_t buffers = 2;
  std::vector<std::uint32_t> block_of_step;  // The block's number for each step. Scalars have none.
  std::vector<std::string> block_names;      // "[2,0]", by block number.
};

enum class ScratchPlace : std::uint8_t { vmem, smem, accumulator, tile_spmem };

struct Scratch {
  std::string name;
  ScratchPlace place = ScratchPlace::vmem;
  Shape shape;
  std::uint64_t bytes = 0;
};

struct Pipeline {
  std::string name;
  std::uint64_t steps = 0;
  std::vector<PipelineOperand> operands;
  std::vector<Scratch> scratch;
  std::optional<std::uint64_t> scoped_limit_bytes;  // No value: the generation's default.
  std::uint64_t compute_ns = 0;                     // What one step of the grid takes.
};

enum class StepKind : std::uint8_t { put, run, free, mark };

struct Step {
  StepKind kind = StepKind::mark;
  std::string name;      // put and free: the array's name on the device; mark: its text.
  std::uint32_t of = 0;  // put: an array; run: a program. An index.
  // True: the step may fail and the run continues, like a server that refuses a request. A failed job ends.
  bool may_fail = false;
  std::vector<std::pair<std::string, std::string>> with;  // run: replacements for arrays of the program's description.
};

enum class Checkpointing : std::uint8_t { none, dots, full, offload };

struct WorkloadOptions {
  Checkpointing checkpointing = Checkpointing::none;
  bool donates = true;
  bool defragments = true;
  bool has_gpu = false;  // Also run the same requests on a GPU's pool.
  bool is_timed = false;
  std::uint64_t defragmentation_stall_ns = 1'000'000;  // Assumed: all work is drained first.
  // Whether values are assigned to VMEM. No value: only for programs that state the compute times of their operations,
  // because the assignment needs times.
  std::optional<bool> assigns_vmem;
  AssignmentOptions vmem;
};

struct Workload {
  std::string name, about;
  const Generation* generation = nullptr;
  Mesh mesh;
  std::vector<Array> arrays;
  std::vector<Program> programs;
  std::vector<Pipeline> pipelines;
  std::vector<Step> steps;
  WorkloadOptions options;
};

}  // namespace hbmscope::allocator::tpu
