#include "allocator/emulated/tpu/emulation/emulation.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "allocator/emulated/tpu/emulation/checkpointing.h"
#include "allocator/emulated/tpu/emulation/error_text.h"
#include "allocator/emulated/tpu/emulation/event_log.h"
#include "allocator/emulated/tpu/emulation/gpu_runtime.h"
#include "allocator/emulated/tpu/emulation/kernel_player.h"
#include "allocator/emulated/tpu/emulation/vmem_player.h"
#include "allocator/emulated/tpu/hbm_runtime.h"

namespace hbmscope::allocator::tpu {
namespace {

struct Buffer {
  std::uint64_t address = 0;
  const Array* array = nullptr;
  Tier tier = Tier::hbm;
  std::uint64_t number = 0;  // Identifies the contents: another array has another number.
};

class Emulator final : private HbmRuntime::Listener {
 public:
  Emulator(const Workload& workload, Work* work)
      : workload_(workload),
        generation_(*workload.generation),
        hbm_(generation_.hbm_usable.value, workload.options.defragments, this),
        log_(out_, workload.options.is_timed, work),
        work_(work),
        bytes_per_second_(generation_.hbm_bytes_per_second.value / generation_.devices_per_chip),
        kernels_(workload, log_, out_, bytes_per_second_),
        vmem_(workload, log_, out_),
        is_compiled_(workload.programs.size()) {}

  Emulation run() {
    for (const Program& program : workload_.programs)
      out_.programs.push_back(
          log_.is_over()
              ? ProgramMemory()
              : compute_program_memory(
                    program, generation_, workload_.options.donates,
                    vmem_share_of(workload_, program, kernels_.largest_stack_bytes(program), bytes_per_second_, work_),
                    work_));
    out_.spaces.resize(out_.programs.size());
    describe_tiers();
    const std::uint64_t usable = generation_.hbm_usable.value, total = generation_.hbm_total.value;
    if (total > usable) log_.alloc(Tier::hbm, usable, total - usable, {}, "reserved by the compiler", nullptr);
    if (workload_.options.has_gpu) gpu_.emplace(workload_, log_, out_);
    for (step_ = 0; step_ < workload_.steps.size() && !out_.stopped_at && !log_.is_over(); ++step_) {
      take(workload_.steps[step_]);
      if (gpu_) gpu_->take(workload_.steps[step_], step_);
    }
    if (gpu_) gpu_->finish();
    out_.hbm_bytes_per_second = bytes_per_second_;
    out_.time_ns = log_.now_ns();
    return std::move(out_);
  }

 private:
  void describe_tiers() {
    const auto set = [&](Tier tier, std::optional<std::uint64_t> capacity) {
      out_.tier[static_cast<std::size_t>(tier)].capacity_bytes = capacity;
    };
    set(Tier::hbm, generation_.hbm_total.known());
    set(Tier::vmem, generation_.vmem.known());
    set(Tier::smem, generation_.smem.known());
    set(Tier::cmem, generation_.cmem.known());
    set(Tier::accumulator, generation_.accumulators.known());
    set(Tier::tile_spmem, generation_.sparse_subcore_vmem.known());
    if (workload_.options.has_gpu) set(Tier::gpu, generation_.hbm_usable.value);
  }

  void take(const Step& step) {
    if (step.kind == StepKind::mark) log_.mark(step.name);
    if (step.kind == StepKind::put) put(step);
    if (step.kind == StepKind::free) {
      drop(step.name);
      gone_[step.name] = {Absence::freed, step_};
    }
    if (step.kind == StepKind::run) run_program(step);
  }

  void fail(EmulatedFailure failure, const Step& step) {
    failure.step = step_;
    log_.fail(std::move(failure));
    if (!step.may_fail) out_.stopped_at = step_;
  }

  // Buffers.

  void put(const Step& step) {
    const Array& array = workload_.arrays[step.of];
    drop(step.name);
    if (const auto address = take_buffer(array, step.name)) {
      buffers_[step.name] = {*address, &array, tier_of(array), ++numbers_};
      return;
    }
    gone_[step.name] = {Absence::refused, step_};
    fail(buffer_failure(array.shard.bytes, step.name), step);
  }

  static Tier tier_of(const Array& array) { return array.spec.place == Place::host ? Tier::host : Tier::hbm; }

  EmulatedFailure buffer_failure(std::uint64_t bytes, const std::string& name) const {
    EmulatedFailure failure;
    failure.text = buffer_text(bytes, memory());
    failure.what = name;
    failure.requested_bytes = bytes;
    failure.free_bytes = memory().free_bytes();
    failure.largest_free_bytes = memory().largest_free_bytes();
    failure.limit_bytes = memory().usable_bytes();
    failure.used_bytes = memory().usable_bytes() - memory().free_bytes();
    return failure;
  }

  std::optional<std::uint64_t> take_buffer(const Array& array, const std::string& name) {
    if (array.spec.place == Place::host) {
      const std::uint64_t address = host_end_;
      host_end_ += array.shard.bytes;
      log_.alloc(Tier::host, address, array.shard.bytes, array.shard.unpadded_bytes, name, &array);
      return address;
    }
    const auto address = hbm_.allocate(array.shard.bytes);
    if (address) log_.alloc(Tier::hbm, *address, array.shard.bytes, array.shard.unpadded_bytes, name, &array);
    return address;
  }

  bool may_move() override {
    constexpr std::uint64_t steps_of_buffer = 4;
    return log_.spend(memory().buffers() * steps_of_buffer);
  }

  void on_moves(const std::vector<Move>& moves, std::uint64_t requested_bytes, std::uint64_t largest_before) override {
    Defragmentation note;
    note.step = step_;
    note.requested_bytes = requested_bytes;
    note.free_bytes = memory().free_bytes();
    note.largest_before = largest_before;
    note.largest_after = memory().largest_free_bytes();
    note.moves = moves.size();
    for (const Move& move : moves) note.moved_bytes += move.bytes;
    const double seconds = 2 * static_cast<double>(note.moved_bytes) / static_cast<double>(bytes_per_second_);
    note.cost_ns = workload_.options.defragmentation_stall_ns + static_cast<std::uint64_t>(seconds * 1e9 + 0.5);
    log_.begins("defragmentation");
    std::map<std::uint64_t, std::uint64_t> to_by_from;
    for (const Move& move : moves) {
      log_.move(Tier::hbm, move.from, move.to, move.bytes);
      to_by_from[move.from] = move.to;
    }
    for (auto& [name, buffer] : buffers_)
      if (const auto moved = to_by_from.find(buffer.address); buffer.tier == Tier::hbm && moved != to_by_from.end())
        buffer.address = moved->second;
    for (auto& [value, address] : outputs_)
      if (const auto moved = to_by_from.find(address); moved != to_by_from.end()) address = moved->second;
    log_.pass(note.cost_ns);
    log_.ends("defragmentation");
    out_.defragmentations.push_back(note);
  }

  void on_unload(HbmRuntime::ProgramId program) override {
    log_.mark("evict " + workload_.programs[program].name);
    ++out_.evictions;
  }

  void on_reservation(std::uint64_t before_bytes, std::uint64_t now_bytes) override {
    if (before_bytes > 0) log_.free(Tier::hbm, 0, before_bytes);
    if (now_bytes > 0) log_.alloc(Tier::hbm, 0, now_bytes, {}, "reserved for programs", nullptr);
  }

  const HbmMemory& memory() const { return hbm_.memory(); }

  void release(const Buffer& buffer) {
    if (buffer.tier == Tier::hbm) hbm_.free(buffer.address);
    log_.free(buffer.tier, buffer.address, buffer.array->shard.bytes);
  }

  // A name whose request was refused has nothing to free.
  void drop(const std::string& name) {
    const auto found = buffers_.find(name);
    if (found == buffers_.end()) return;
    release(found->second);
    buffers_.erase(found);
  }

  // Programs.

  std::uint64_t allocated_code(std::size_t program) const {
    const std::uint64_t code = out_.programs[program].code_bytes.value_or(0);
    return code == 0 ? 0 : allocated_bytes(generation_, code);
  }

  bool load(std::size_t program, const Step& step) {
    const std::uint64_t temp_bytes = out_.programs[program].temp_bytes, code_bytes = allocated_code(program);
    if (hbm_.load(program, temp_bytes, code_bytes)) return true;
    EmulatedFailure failure;
    failure.what = workload_.programs[program].name;
    failure.requested_bytes = temp_bytes + code_bytes;
    failure.free_bytes = memory().free_bytes();
    failure.largest_free_bytes = memory().reservable_bytes() - memory().reserved_bytes();
    failure.limit_bytes = memory().usable_bytes();
    failure.used_bytes = memory().usable_bytes() - memory().free_bytes();
    failure.text = load_text(failure.what, failure.requested_bytes, memory());
    fail(std::move(failure), step);
    return false;
  }

  // Checks what the compiler refuses, once for each program.
  bool compile(std::size_t number, const Step& step) {
    if (is_compiled_[number]) return *is_compiled_[number];
    const Program& program = workload_.programs[number];
    const ProgramMemory& memory = out_.programs[number];
    EmulatedFailure failure;
    failure.what = program.name;
    if (memory.needed_bytes() > generation_.hbm_usable.value) {
      std::uint64_t sparse = 0;
      for (const Value& value : program.values)
        if (value.array.spec.place == Place::sparse_core) sparse += value.array.shard.bytes;
      failure.requested_bytes = memory.needed_bytes();
      failure.limit_bytes = generation_.hbm_usable.value;
      failure.text = sparse == 0 ? compile_oom_text(program, memory, generation_)
                                 : cores_text(memory.needed_bytes() - sparse, sparse, generation_.hbm_usable.value);
    } else if (auto kernel = kernels_.find_fault(program)) {
      failure = std::move(*kernel);
    } else {
      // A kernel's buffers are above the program's values in VMEM.
      failure =
          find_on_chip_fault(program, memory, Place::vmem, memory.vmem_bytes + kernels_.largest_stack_bytes(program));
      if (failure.text.empty()) failure = find_on_chip_fault(program, memory, Place::cmem, memory.cmem_bytes);
      failure.what = program.name;
    }
    is_compiled_[number] = failure.text.empty();
    if (!failure.text.empty()) fail(std::move(failure), step);
    return *is_compiled_[number];
  }

  // An empty text means no failure.
  EmulatedFailure find_on_chip_fault(const Program& program, const ProgramMemory& memory, Place place,
                                     std::uint64_t bytes) const {
    EmulatedFailure failure;
    const std::uint64_t limit = place == Place::vmem ? generation_.vmem.value : generation_.cmem.value;
    if (bytes <= limit) return failure;
    failure.tier = place == Place::vmem ? Tier::vmem : Tier::cmem;
    failure.requested_bytes = bytes;
    failure.limit_bytes = limit;
    failure.text = on_chip_oom_text(program, memory, place, bytes, limit);
    return failure;
  }

  // Runs.

  static const std::string& name_with(const Step& step, const std::string& name) {
    for (const auto& [of, with] : step.with)
      if (of == name) return with;
    return name;
  }

  bool take_outputs(const Step& step, const Program& program, const ProgramMemory& memory) {
    outputs_.clear();
    for (std::uint32_t i = 0; i < program.values.size(); ++i) {
      const Value& value = program.values[i];
      if (value.role != Role::output || memory.argument_under[i]) continue;
      const std::string& name = name_with(step, value.binds);
      const auto address = take_buffer(value.array, name);
      if (address) {
        outputs_[i] = *address;
        continue;
      }
      const auto failure = buffer_failure(value.array.shard.bytes, name);
      for (const auto& [given, at] : outputs_)
        release({at, &program.values[given].array, tier_of(program.values[given].array), 0});
      outputs_.clear();
      fail(failure, step);
      return false;
    }
    return true;
  }

  void run_program(const Step& step) {
    const Program& program = workload_.programs[step.of];
    const ProgramMemory& memory = out_.programs[step.of];
    if (!log_.spend(program.values.size() + program.operations.size())) return;
    const auto missing = std::find_if(program.values.begin(), program.values.end(), [&](const Value& value) {
      return value.role == Role::argument && buffers_.count(name_with(step, value.binds)) == 0;
    });
    if (missing != program.values.end()) return skip(step, name_with(step, missing->binds));
    if (!compile(step.of, step) || !load(step.of, step)) return;
    hbm_.set_running(step.of);
    if (take_outputs(step, program, memory)) {
      log_.begins(program.name);
      vmem_.begin(step.of, numbers_of_arguments(step, program));
      play(program, memory);
      vmem_.end();
      log_.ends(program.name);
      ++out_.runs;
      bind_outputs(step, program, memory);
    }
    hbm_.set_running(std::nullopt);
  }

  void skip(const Step& step, const std::string& argument) {
    const auto gone = gone_.find(argument);
    const Gone why = gone != gone_.end() ? gone->second : Gone();
    out_.skipped_runs.push_back({step_, step.of, argument, why.why, why.step});
  }

  std::vector<std::uint64_t> numbers_of_arguments(const Step& step, const Program& program) const {
    std::vector<std::uint64_t> numbers;
    for (const Value& value : program.values)
      numbers.push_back(value.role == Role::argument ? buffers_.at(name_with(step, value.binds)).number : 0);
    return numbers;
  }

  // Donated buffers become outputs or are freed. From now on an output's name refers to the new array.
  void bind_outputs(const Step& step, const Program& program, const ProgramMemory& memory) {
    std::map<std::uint32_t, Buffer> donated;
    for (std::uint32_t i = 0; i < program.values.size(); ++i) {
      const Value& value = program.values[i];
      if (!workload_.options.donates || value.role != Role::argument || !value.is_donated) continue;
      const auto found = buffers_.find(name_with(step, value.binds));
      if (found == buffers_.end()) continue;  // Donated twice.
      donated[i] = found->second;
      gone_[found->first] = {Absence::donated, step_};
      buffers_.erase(found);
    }
    std::map<std::string, Buffer> made;
    for (std::uint32_t i = 0; i < program.values.size(); ++i) {
      const Value& value = program.values[i];
      if (value.role != Role::output) continue;
      const std::string& name = name_with(step, value.binds);
      const auto under = memory.argument_under[i];
      if (under && donated.count(*under) != 0) {
        made[name] = donated[*under];
        made[name].array = &value.array;
        made[name].number = ++numbers_;
        donated.erase(*under);
        out_.reused_bytes += value.array.shard.bytes;
        log_.reused(made[name].tier, made[name].address, value.array.name);
      } else {
        made[name] = {outputs_.at(i), &value.array, tier_of(value.array), ++numbers_};
      }
    }
    for (const auto& [value, buffer] : donated) release(buffer);
    for (const auto& [name, buffer] : made) {
      drop(name);
      buffers_[name] = buffer;
    }
    outputs_.clear();
  }

  void play(const Program& program, const ProgramMemory& memory) {
    std::vector<std::vector<const PlacedValue*>> begins(program.operations.size()), ends(program.operations.size());
    for (const PlacedValue& placed : memory.placed) {
      begins[placed.begin].push_back(&placed);
      ends[placed.end].push_back(&placed);
    }
    std::map<std::uint32_t, const PlacedValue*> live;
    const auto end = [&](std::uint32_t value) {
      const auto found = live.find(value);
      if (found == live.end()) return;
      log_.free(temporary_tier(program, value), base_of(program, value) + found->second->offset, found->second->bytes);
      live.erase(found);
    };
    for (std::size_t i = 0; i < program.operations.size() && !log_.is_over(); ++i) {
      const Operation& operation = program.operations[i];
      vmem_.before(i);
      if (i > 0)
        // Values kept until copies from them were made.
        for (const PlacedValue* placed : ends[i - 1]) end(placed->value);
      log_.begins(operation.name);
      vmem_.begin_operation(i);
      for (const PlacedValue* placed : begins[i]) {
        if (placed->over) end(*placed->over);
        const Array& array = program.values[placed->value].array;
        log_.alloc(temporary_tier(program, placed->value), base_of(program, placed->value) + placed->offset,
                   placed->bytes, array.shard.unpadded_bytes, array.name, &array);
        live[placed->value] = placed;
      }
      if (operation.pipeline)
        vmem_.copy_for(kernels_.play(program, *operation.pipeline, memory.vmem_bytes + memory.spaces.heap_bytes));
      else
        work(program, memory, i);
      log_.ends(operation.name);
      vmem_.after(i);
    }
    if (!ends.empty())
      for (const PlacedValue* placed : ends.back()) end(placed->value);
  }

  std::uint64_t base_of(const Program& program, std::uint32_t value) const {
    return temporary_tier(program, value) == Tier::host ? host_end_ : 0;
  }

  void work(const Program& program, const ProgramMemory& memory, std::size_t number) {
    const Operation& operation = program.operations[number];
    const ScheduledOperation scheduled{operation.compute_ns, touched_bytes(program, operation), 0};
    const std::uint64_t in_vmem = memory.vmem_bytes_touched.empty() ? 0 : memory.vmem_bytes_touched[number];
    vmem_.pass(elapsed_ns(scheduled, in_vmem, bytes_per_second_),
               elapsed_ns({0, scheduled.bytes, 0}, in_vmem, bytes_per_second_));
  }

  const Workload& workload_;
  const Generation& generation_;
  HbmRuntime hbm_;
  Emulation out_;
  EventLog log_;
  Work* const work_;
  const std::uint64_t bytes_per_second_;
  KernelPlayer kernels_;
  VmemPlayer vmem_;
  std::optional<GpuRuntime> gpu_;
  // Why an array is not on the device. Ignored for arrays that have come back since.
  struct Gone {
    Absence why = Absence::never_put;
    std::size_t step = 0;
  };
  std::map<std::string, Gone> gone_;
  std::map<std::string, Buffer> buffers_;
  std::map<std::uint32_t, std::uint64_t> outputs_;  // The current run's: value -> address.
  std::vector<std::optional<bool>> is_compiled_;    // By program; no value: not tried.
  std::size_t step_ = 0;
  std::uint64_t host_end_ = 0, numbers_ = 0;
};

}  // namespace

Emulation emulate(const Workload& workload, Work* work) {
  return Emulator(workload, work).run();
}

}  // namespace hbmscope::allocator::tpu
