#include "allocator/emulated/tpu/emulation/kernel_player.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "allocator/emulated/tpu/emulation/error_text.h"

namespace hbmscope::allocator::tpu {
namespace {

constexpr std::uint64_t word_bytes = 4;

Tier tier_of(ScratchPlace place) {
  switch (place) {
    case ScratchPlace::vmem: return Tier::vmem;
    case ScratchPlace::smem: return Tier::smem;
    case ScratchPlace::accumulator: return Tier::accumulator;
    case ScratchPlace::tile_spmem: return Tier::tile_spmem;
  }
  return Tier::vmem;
}

EmulatedFailure failure_of(const Pipeline& pipeline, Tier tier, std::uint64_t requested, std::uint64_t limit) {
  EmulatedFailure failure;
  failure.what = pipeline.name;
  failure.tier = tier;
  failure.requested_bytes = requested;
  failure.limit_bytes = limit;
  return failure;
}

}  // namespace

std::uint64_t KernelPlayer::scoped_limit(const Pipeline& pipeline) const {
  const Generation& generation = *workload_.generation;
  // On v2 and v3 the only limit is the size of VMEM.
  return pipeline.scoped_limit_bytes.value_or(generation.vmem_scoped_limit.known().value_or(generation.vmem.value));
}

std::optional<EmulatedFailure> KernelPlayer::find_fault(const Program& program) const {
  for (const Operation& operation : program.operations)
    if (operation.pipeline)
      if (auto fault = find_fault_of(workload_.pipelines[*operation.pipeline])) return fault;
  return std::nullopt;
}

std::uint64_t KernelPlayer::largest_stack_bytes(const Program& program) const {
  std::uint64_t largest = 0;
  for (const Operation& operation : program.operations)
    if (operation.pipeline)
      largest = std::max(largest, compute_footprint(workload_.pipelines[*operation.pipeline]).vmem_bytes);
  return largest;
}

std::optional<EmulatedFailure> KernelPlayer::find_fault_of(const Pipeline& pipeline) const {
  const Generation& generation = *workload_.generation;
  const PipelineFootprint footprint = compute_footprint(pipeline);
  const auto refuse = [&](Tier tier, const Shape& shape, std::uint64_t bytes, std::uint64_t limit, const char* tag) {
    EmulatedFailure failure = failure_of(pipeline, tier, bytes, limit);
    failure.text = allocation_text(pipeline.name, shape, text_from_tier(tier), bytes, limit, tag);
    return failure;
  };
  for (const PipelineOperand& operand : pipeline.operands)
    if (operand.is_scalar && operand.block_bytes > generation.smem.value)
      return refuse(Tier::smem, operand.block, operand.block_bytes, generation.smem.value, "prefetched SMEM operand");
  std::uint64_t words = 0;
  for (const Scratch& scratch : pipeline.scratch) {
    if (scratch.place == ScratchPlace::vmem && scratch.bytes > generation.vmem.value)
      return refuse(Tier::vmem, scratch.shape, scratch.bytes, generation.vmem.value, "scratch operand");
    if (scratch.place == ScratchPlace::smem && scratch.bytes > generation.smem.value)
      return refuse(Tier::smem, scratch.shape, scratch.bytes, generation.smem.value, "scratch operand");
    if (scratch.place != ScratchPlace::tile_spmem) continue;
    words += scratch.bytes / word_bytes;
    const std::uint64_t limit = generation.sparse_subcore_vmem.value / word_bytes;
    if (words < limit) continue;  // The last word is not available to the user.
    EmulatedFailure failure = failure_of(pipeline, Tier::tile_spmem, words * word_bytes, (limit - 1) * word_bytes);
    failure.text = sparse_core_text(words, limit - 1, scratch.bytes / word_bytes);
    return failure;
  }
  if (footprint.smem_bytes > generation.smem.value) {
    const PipelineOperand* largest = nullptr;
    for (const PipelineOperand& operand : pipeline.operands)
      if (operand.is_scalar && (largest == nullptr || operand.block_bytes > largest->block_bytes)) largest = &operand;
    const Shape& shape = largest != nullptr ? largest->block : pipeline.scratch.front().shape;
    return refuse(Tier::smem, shape, footprint.smem_bytes, generation.smem.value, "all SMEM operands");
  }
  const std::uint64_t limit = scoped_limit(pipeline);
  if (footprint.vmem_bytes <= limit) return std::nullopt;
  EmulatedFailure failure = failure_of(pipeline, Tier::vmem, footprint.vmem_bytes, limit);
  const auto output = std::find_if(pipeline.operands.begin(), pipeline.operands.end(),
                                   [](const PipelineOperand& operand) { return operand.is_output; });
  const Shape& shape = output != pipeline.operands.end() ? output->block : pipeline.operands.front().block;
  failure.text = scoped_vmem_text(pipeline.name, shape, footprint.vmem_bytes, limit);
  return failure;
}

// The blocks in the slots of one kernel.
struct KernelPlayer::Run {
  EventLog& log;
  const Pipeline& pipeline;
  const PipelineFootprint& footprint;
  std::uint64_t base;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> occupied = {};  // (Operand, slot) -> bytes.
  std::vector<std::uint64_t> blocks_begun = {};                                    // For outputs, by operand.

  std::uint64_t address(std::uint32_t operand, std::uint32_t slot) const {
    return base + footprint.slots[operand][slot].offset;
  }
  void leave(std::uint32_t operand, std::uint32_t slot) {
    const auto found = occupied.find({operand, slot});
    if (found == occupied.end()) return;
    log.free(Tier::windows, address(operand, slot), found->second);
    occupied.erase(found);
  }
  void enter(std::uint32_t operand, std::uint32_t slot, std::uint32_t block) {
    leave(operand, slot);
    const PipelineOperand& of = pipeline.operands[operand];
    log.alloc(Tier::windows, address(operand, slot), of.block_bytes, {}, of.name + of.block_names[block], nullptr);
    occupied[{operand, slot}] = of.block_bytes;
  }
  std::string label(const PipelineEvent& event, const char* what) const {
    return fmt::format("{} {}{}", what, pipeline.operands[event.operand].name,
                       pipeline.operands[event.operand].block_names[event.block]);
  }

  void take(const PipelineEvent& event) {
    switch (event.kind) {
      case PipelineEventKind::copy_in_begins:
        enter(event.operand, event.slot, event.block);
        log.begins(label(event, "copy in"));
        break;
      case PipelineEventKind::copy_in_ends: log.ends(label(event, "copy in")); break;
      case PipelineEventKind::copy_out_begins: log.begins(label(event, "copy out")); break;
      case PipelineEventKind::copy_out_ends:
        log.ends(label(event, "copy out"));
        leave(event.operand, event.slot);
        break;
      case PipelineEventKind::stall_begins: log.begins(label(event, "stall:")); break;
      case PipelineEventKind::stall_ends: log.ends(label(event, "stall:")); break;
      case PipelineEventKind::body_begins:
        begin_outputs(event.step);
        log.begins("body");
        break;
      case PipelineEventKind::body_ends: log.ends("body"); break;
    }
  }

  void begin_outputs(std::uint64_t step) {
    for (std::uint32_t i = 0; i < pipeline.operands.size(); ++i) {
      const PipelineOperand& operand = pipeline.operands[i];
      if (!operand.is_output) continue;
      if (step > 0 && operand.block_of_step[step] == operand.block_of_step[step - 1]) continue;
      enter(i, static_cast<std::uint32_t>(blocks_begun[i]++ % operand.buffers), operand.block_of_step[step]);
    }
  }
};

std::uint64_t KernelPlayer::play(const Program& program, std::uint32_t number, std::uint64_t vmem_base) {
  const Pipeline& pipeline = workload_.pipelines[number];
  if (!log_.spend(pipeline.steps * (1 + pipeline.operands.size()) * Work::steps_of_turn)) return 0;
  const PipelineFootprint footprint = compute_footprint(pipeline);
  PipelineRun run = run_pipeline(pipeline, bytes_per_second_);
  struct Taken {
    Tier tier;
    std::uint64_t address, bytes;
  };
  std::vector<Taken> taken;
  const auto take = [&](Tier tier, const SlotPlace& place, const std::string& name) {
    const std::uint64_t address = place.offset + (tier == Tier::vmem ? vmem_base : 0);
    log_.alloc(tier, address, place.bytes, {}, name, nullptr);
    taken.push_back({tier, address, place.bytes});
  };
  for (std::size_t i = 0; i < pipeline.operands.size(); ++i)
    for (std::size_t slot = 0; slot < footprint.slots[i].size(); ++slot) {
      const PipelineOperand& operand = pipeline.operands[i];
      take(operand.is_scalar ? Tier::smem : Tier::vmem, footprint.slots[i][slot],
           operand.is_scalar ? operand.name : fmt::format("{} slot {}", operand.name, slot));
    }
  for (std::size_t i = 0; i < pipeline.scratch.size(); ++i)
    take(tier_of(pipeline.scratch[i].place), footprint.scratch[i], pipeline.scratch[i].name);
  Run blocks{log_, pipeline, footprint, vmem_base};
  blocks.blocks_begun.assign(pipeline.operands.size(), 0);
  const std::uint64_t begin = log_.now_ns();
  for (const PipelineEvent& event : run.events) {
    if (log_.is_over()) break;
    log_.set_now(begin + event.time_ns);
    blocks.take(event);
  }
  log_.set_now(begin + run.time_ns);
  while (!blocks.occupied.empty())
    blocks.leave(blocks.occupied.begin()->first.first, blocks.occupied.begin()->first.second);
  for (const Taken& each : taken) log_.free(each.tier, each.address, each.bytes);
  const bool is_known = std::any_of(out_.kernels.begin(), out_.kernels.end(), [&](const KernelFigures& kernel) {
    return kernel.pipeline == number && kernel.program == program.name;
  });
  const std::uint64_t free_ns = run.time_ns - std::min(run.time_ns, run.copy_ns);
  if (is_known) return free_ns;
  run.events = {};
  out_.kernels.push_back({number, program.name, footprint.vmem_bytes, scoped_limit(pipeline), std::move(run)});
  return free_ns;
}

}  // namespace hbmscope::allocator::tpu
