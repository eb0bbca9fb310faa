#include "allocator/emulated/tpu/emulation/program_spaces.h"

#include <algorithm>

#include "allocator/emulated/tpu/emulation/pipeline.h"

namespace hbmscope::allocator::tpu {
namespace {

struct Touched {
  std::uint32_t writers = 0;
  std::int64_t defined_at = -1;
  bool is_of_kernel = false;
  std::vector<std::int64_t> reads;
};

std::vector<Touched> touches_of(const Program& program) {
  std::vector<Touched> touched(program.values.size());
  for (std::size_t i = 0; i < program.operations.size(); ++i) {
    const Operation& operation = program.operations[i];
    const auto time = static_cast<std::int64_t>(i);
    for (const std::uint32_t value : operation.writes) {
      ++touched[value].writers;
      touched[value].defined_at = time;
      touched[value].is_of_kernel |= operation.pipeline.has_value();
    }
    for (const std::uint32_t value : operation.reads) {
      touched[value].is_of_kernel |= operation.pipeline.has_value();
      if (touched[value].reads.empty() || touched[value].reads.back() != time) touched[value].reads.push_back(time);
    }
  }
  return touched;
}

std::uint64_t made_elements(const Program& program, const Operation& operation) {
  std::uint64_t sum = 0;
  for (const std::uint32_t value : operation.writes) {
    std::uint64_t elements = 1;
    for (const auto& dimension : program.values[value].array.shard.shape.dimensions) elements *= dimension.size;
    sum += elements;
  }
  return sum;
}

AssignableValue value_from(const Value& value, const Touched& touched, std::int64_t end) {
  AssignableValue out;
  const bool is_argument = value.role == Role::argument;
  const bool takes_part = value.array.spec.place == Place::hbm && !touched.is_of_kernel &&
                          (is_argument ? touched.writers == 0 : touched.writers == 1);
  if (!takes_part) return out;
  out.bytes = value.array.shard.bytes;
  out.defined_at = touched.defined_at;
  out.is_defined_in_hbm = is_argument;
  for (const std::int64_t read : touched.reads)
    if (read > touched.defined_at) out.uses.push_back({read, false});
  if (value.role == Role::output) out.uses.push_back({end, true});
  return out;
}

}  // namespace

std::uint64_t touched_bytes(const Program& program, const Operation& operation) {
  std::uint64_t bytes = 0;
  for (std::vector<std::uint32_t> list : {operation.reads, operation.writes}) {
    std::sort(list.begin(), list.end());  // x * x reads x once.
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const std::uint32_t value : list) bytes += program.values[value].array.shard.bytes;
  }
  return bytes;
}

VmemShare vmem_share_of(const Workload& workload, const Program& program, std::uint64_t stack_bytes,
                        std::uint64_t bytes_per_second, Work* work) {
  VmemShare share;
  share.options = workload.options.vmem;
  share.bytes_per_second = bytes_per_second;
  const bool states_times = std::any_of(program.operations.begin(), program.operations.end(),
                                        [](const Operation& operation) { return operation.compute_ns > 0; });
  share.options.is_on = workload.options.assigns_vmem.value_or(states_times);
  if (!share.options.is_on) return share;
  // On v2, v3 and v4 the limit is the whole of VMEM, so nothing is left.
  const std::uint64_t vmem = workload.generation->vmem.value;
  const std::uint64_t reserved =
      share.options.reserved_bytes.value_or(workload.generation->vmem_scoped_limit.known().value_or(vmem));
  share.capacity_bytes = vmem - std::min(vmem, std::max(reserved, stack_bytes));
  share.kernel_ns.resize(workload.pipelines.size());
  for (const Operation& operation : program.operations)
    if (operation.pipeline && share.kernel_ns[*operation.pipeline] == 0) {
      const Pipeline& pipeline = workload.pipelines[*operation.pipeline];
      if (work != nullptr && !work->spend(pipeline.steps * (1 + pipeline.operands.size()) * Work::steps_of_turn)) break;
      share.kernel_ns[*operation.pipeline] = run_pipeline(pipeline, bytes_per_second).time_ns;
    }
  return share;
}

AssignmentProblem problem_from_program(const Program& program,
                                       const std::vector<std::optional<std::uint32_t>>& argument_under,
                                       const VmemShare& share, std::uint64_t alignment) {
  AssignmentProblem problem;
  problem.options = share.options;
  problem.capacity_bytes = share.capacity_bytes;
  problem.alignment = alignment;
  problem.bytes_per_second = share.bytes_per_second;
  for (const Operation& operation : program.operations) {
    if (operation.pipeline)
      problem.operations.push_back({share.kernel_ns[*operation.pipeline], 0, made_elements(program, operation)});
    else
      problem.operations.push_back(
          {operation.compute_ns, touched_bytes(program, operation), made_elements(program, operation)});
  }
  const std::vector<Touched> touched = touches_of(program);
  const auto end = static_cast<std::int64_t>(program.operations.size());
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    problem.values.push_back(value_from(program.values[i], touched[i], end));
    problem.values.back().can_cross_programs = program.values[i].role == Role::argument && program.values[i].may_stay;
  }
  // A value whose memory an output takes over is a different value in the next run.
  for (const auto& under : argument_under)
    if (under) problem.values[*under].can_cross_programs = false;
  return problem;
}

std::optional<OperationRange> hbm_range(const AssignmentProblem& problem, const Assignment& assignment,
                                        std::uint32_t number, OperationRange whole) {
  const AssignableValue& value = problem.values[number];
  const auto& in_vmem = assignment.is_use_in_vmem[number];
  if (std::find(in_vmem.begin(), in_vmem.end(), true) == in_vmem.end()) return whole;
  if (!assignment.needs_hbm[number]) return std::nullopt;
  // A copy to HBM begins where the value is produced; a copy from HBM ends before the operation that needs it.
  std::int64_t end = value.defined_at;
  for (std::size_t i = 0; i < value.uses.size(); ++i)
    if (!in_vmem[i]) end = std::max(end, value.uses[i].time);
  const auto& residences = assignment.residences;  // By value.
  auto each = std::lower_bound(residences.begin(), residences.end(), number,
                               [](const Residence& residence, std::uint32_t of) { return residence.value < of; });
  for (; each != residences.end() && each->value == number; ++each) {
    const Residence& residence = *each;
    if (residence.in) end = std::max(end, residence.in->before - 1);
    if (residence.out) end = std::max(end, residence.out->before - 1);
  }
  return OperationRange{whole.begin, std::min(whole.end, static_cast<std::size_t>(std::max<std::int64_t>(end, 0)))};
}

std::vector<std::uint64_t> vmem_bytes_by_operation(const AssignmentProblem& problem, const Assignment& assignment) {
  std::vector<std::uint64_t> bytes(problem.operations.size());
  for (std::size_t i = 0; i < problem.values.size(); ++i) {
    const AssignableValue& value = problem.values[i];
    if (assignment.is_defined_in_vmem[i]) bytes[static_cast<std::size_t>(value.defined_at)] += value.bytes;
    for (std::size_t use = 0; use < value.uses.size(); ++use)
      if (assignment.is_use_in_vmem[i][use]) bytes[static_cast<std::size_t>(value.uses[use].time)] += value.bytes;
  }
  return bytes;
}

}  // namespace hbmscope::allocator::tpu
