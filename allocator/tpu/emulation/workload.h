// What a TPU is asked to do: arrays that are put on it, programs that read and write them, kernels that move blocks
// through VMEM, and the steps in which all that happens. Every number is worked out: whoever reads a description has
// gone through its loops and formulas.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocator/tpu/emulation/mesh.h"
#include "allocator/tpu/memory_space_assignment.h"

namespace hbmscope::allocator::tpu {

// Where the figures of an emulation come from.
enum class FigureKind : std::uint8_t {
  emulated,  // By rules that are public, or that show in what the compiler says.
  assumed,   // By a parameter that the workload states, or a rule that is not published.
  modelled,  // A time: bytes by the generation's bandwidth, and the times that the workload states.
};

struct Array {
  std::string name;
  std::uint32_t line = 0;  // Of its description; 0: it has none.
  ArraySpec spec;
  Shard shard;
};

enum class Role : std::uint8_t { argument, output, temporary };

struct Value {
  Array array;  // Its name is the value's.
  Role role = Role::temporary;
  std::string binds;  // Of arguments and outputs: the array that it is outside of the program.
  bool is_donated = false;
  bool may_stay = true;  // Of an argument: in VMEM, from run to run.
};

struct Operation {
  std::string name;
  std::string segment;  // Of the forward pass: what is checkpointed together; empty: none.
  std::vector<std::uint32_t> reads, writes;
  bool is_dot = false;                    // A matrix product: kept by the policy `dots`.
  bool writes_in_place = false;           // May write over what it reads for the last time.
  std::optional<std::uint32_t> pipeline;  // The kernel that it is.
  std::uint64_t compute_ns = 0;           // As the workload states it; 0: memory decides.
};

struct Program {
  std::string name;
  std::vector<Value> values;
  std::vector<Operation> operations;        // In the order in which they run.
  std::optional<std::uint64_t> code_bytes;  // Nothing: not stated. No rule gives it.
};

// A block of an operand in a kernel's grid.
struct PipelineOperand {
  std::string name;
  bool is_output = false;
  bool is_scalar = false;  // In SMEM, whole, before the first step.
  bool has_lookahead = false;
  Shape block;
  std::uint64_t block_bytes = 0;
  std::uint32_t buffers = 2;
  std::vector<std::uint32_t> block_of_step;  // A number of a block, by step; of scalars empty.
  std::vector<std::string> block_names;      // "[2,0]", by number.
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
  std::optional<std::uint64_t> scoped_limit_bytes;  // Nothing: the generation's default.
  std::uint64_t compute_ns = 0;                     // Of a step of the grid.
};

enum class StepKind : std::uint8_t { put, run, free, mark };

struct Step {
  StepKind kind = StepKind::mark;
  std::string name;       // put and free: of the array on the device; mark: what it says.
  std::uint32_t of = 0;   // put: an array; run: a program.
  bool may_fail = false;  // A server refuses a request and goes on; a job ends.
  std::vector<std::pair<std::string, std::string>> with;  // run: what stands for an array of its description.
};

enum class Checkpointing : std::uint8_t { none, dots, full, offload };

struct WorkloadOptions {
  Checkpointing checkpointing = Checkpointing::none;
  bool donates = true;
  bool defragments = true;
  bool has_gpu = false;  // The same requests on a GPU's pool, beside it.
  bool is_timed = false;
  std::uint64_t defragmentation_stall_ns = 1'000'000;  // Assumed: all work is drained first.
  // What of values is in VMEM. Nothing: of programs that state what their operations compute, without which there are
  // no times to go by.
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
