#include "allocator/emulated/tpu/emulation/gpu_runtime.h"

#include <vector>

#include <fmt/format.h>

namespace hbmscope::allocator::tpu {
namespace {

AllocatorOptions options_of(std::uint64_t bytes) {
  xla_gpu::Options options;
  options.limit_bytes = bytes;
  return options;
}

const std::string& name_with(const Step& step, const std::string& name) {
  for (const auto& [of, with] : step.with)
    if (of == name) return with;
  return name;
}

}  // namespace

GpuPool::GpuPool(std::uint64_t bytes) : upstream_({}), allocator_(make_allocator(options_of(bytes), upstream_)) {
  // The pool is claimed at the first request. A first allocation, freed at once, makes it exist from the beginning.
  if (const auto first = allocate(1)) free(first->address);
  const auto claims = allocator_->claims();
  base_ = claims.empty() ? 0 : claims.front().base;
}

std::optional<Allocation> GpuPool::allocate(std::uint64_t bytes) {
  const Allocation got = allocator_->allocate({.bytes = bytes});
  if (got.outcome != Outcome::allocated) return std::nullopt;
  return got;
}

std::string_view GpuPool::version() {
  return xla_gpu::rules_of(xla_gpu::Options{}.version).name;
}

GpuRuntime::GpuRuntime(const Workload& workload, EventLog& log, Emulation& out)
    : workload_(workload), log_(log), out_(out), pool_(workload.generation->hbm_usable.value) {
  out_.gpu_pool_base = pool_.base();
}

void GpuRuntime::take(const Step& step, std::size_t number) {
  step_ = number;
  if (step.kind == StepKind::free) drop(step.name);
  if (step.kind == StepKind::run) run(step);
  if (step.kind != StepKind::put) return;
  const Array& array = workload_.arrays[step.of];
  drop(step.name);
  if (array.spec.place == Place::host) return;
  if (const auto taken = allocate(array.shard.bytes, array.shard.unpadded_bytes, step.name, &array))
    buffers_[step.name] = *taken;
}

std::optional<GpuRuntime::Taken> GpuRuntime::allocate(std::uint64_t bytes, std::uint64_t requested,
                                                      const std::string& name, const Array* array) {
  const auto got = pool_.allocate(bytes);
  if (got) {
    log_.alloc(Tier::gpu, got->address, got->bytes, requested, name, array);
    return Taken{got->address, got->bytes};
  }
  const Statistics now = pool_.allocator().statistics();
  EmulatedFailure failure;
  failure.text = fmt::format("RESOURCE_EXHAUSTED: Out of memory while trying to allocate {} bytes.", bytes);
  failure.tier = Tier::gpu;
  failure.step = step_;
  failure.what = name;
  failure.requested_bytes = bytes;
  failure.free_bytes = now.pool_bytes - now.in_use_bytes;
  failure.largest_free_bytes = pool_.allocator().largest_free_bytes();
  failure.limit_bytes = now.limit_bytes;
  failure.used_bytes = now.in_use_bytes;
  log_.fail_gpu(std::move(failure));
  return std::nullopt;
}

void GpuRuntime::release(const Taken& taken) {
  pool_.free(taken.address);
  log_.free(Tier::gpu, taken.address, taken.bytes);
}

void GpuRuntime::drop(const std::string& name) {
  const auto found = buffers_.find(name);
  if (found == buffers_.end()) return;
  release(found->second);
  buffers_.erase(found);
}

void GpuRuntime::run(const Step& step) {
  const Program& program = workload_.programs[step.of];
  const ProgramMemory& memory = out_.programs[step.of];
  for (const Value& value : program.values) {
    const bool is_needed = value.role == Role::argument && value.array.spec.place != Place::host;
    if (!is_needed || buffers_.count(name_with(step, value.binds)) != 0) continue;
    ++out_.gpu_runs_skipped;
    return;
  }
  std::vector<std::pair<std::string, Taken>> made;
  std::optional<Taken> temporaries;
  bool has_all = true;
  if (memory.temp_bytes_without_vmem > 0) {  // A GPU has no VMEM.
    temporaries = allocate(memory.temp_bytes_without_vmem, memory.temp_bytes_without_vmem,
                           "temporaries of " + program.name, nullptr);
    has_all = temporaries.has_value();
  }
  for (std::uint32_t i = 0; i < program.values.size() && has_all; ++i) {
    const Value& value = program.values[i];
    if (value.role != Role::output || value.array.spec.place == Place::host) continue;
    const std::string& name = name_with(step, value.binds);
    if (memory.argument_under[i]) {
      const auto donated = buffers_.find(name_with(step, program.values[*memory.argument_under[i]].binds));
      if (donated == buffers_.end()) continue;
      made.emplace_back(name, donated->second);
      buffers_.erase(donated);
      continue;
    }
    const auto taken = allocate(value.array.shard.bytes, value.array.shard.unpadded_bytes, name, &value.array);
    has_all = taken.has_value();
    if (taken) made.emplace_back(name, *taken);
  }
  if (temporaries) release(*temporaries);
  if (!has_all) {
    for (const auto& [name, taken] : made) release(taken);
    ++out_.gpu_runs_skipped;
    return;
  }
  for (const Value& value : program.values)
    if (workload_.options.donates && value.role == Role::argument && value.is_donated)
      drop(name_with(step, value.binds));
  for (const auto& [name, taken] : made) {
    drop(name);
    buffers_[name] = taken;
  }
}

void GpuRuntime::finish() {
  const Statistics now = pool_.allocator().statistics();
  out_.gpu_free_bytes = now.pool_bytes - now.in_use_bytes;
  out_.gpu_largest_free_bytes = pool_.allocator().largest_free_bytes();
}

}  // namespace hbmscope::allocator::tpu
