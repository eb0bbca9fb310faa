// Runs a workload on one device of its mesh; the other devices do the same at the same time. The result is an ordered
// list of events: blocks of each memory are allocated, moved and freed, operations and kernels begin and end, and
// requests fail with the runtime's error texts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/emulated/tpu/emulation/pipeline.h"
#include "allocator/emulated/tpu/emulation/program_memory.h"
#include "allocator/emulated/tpu/emulation/workload.h"

namespace hbmscope::allocator::tpu {

enum class Tier : std::uint8_t {
  hbm,          // Buffers, and one block that is reserved for programs.
  temporaries,  // Within that block: the temporaries of the running program.
  vmem,
  windows,  // Within VMEM's buffers: the blocks that they hold.
  smem,
  cmem,
  accumulator,
  tile_spmem,
  host,
  gpu,  // The GPU's pool that runs the same requests.
};
constexpr std::size_t tiers = 10;
// The memory of a running program's temporary; for HBM that is `temporaries`.
Tier temporary_tier(const Program& program, std::uint32_t value);
std::string_view text_from_tier(Tier tier);  // As the compiler names it: "hbm", "vmem", ...; or "gpu".

// Copies overlap with what runs: they are not nested, as programs, operations and kernels are.
enum class EventKind : std::uint8_t {
  alloc,
  free,
  move,
  failure,
  mark,
  begins,
  ends,
  reused,
  copy_begins,
  copy_ends,
};
struct Event {
  EventKind kind = EventKind::mark;
  Tier tier = Tier::hbm;
  std::int64_t time_ns = 0;  // 0 where the workload has no times.
  std::uint64_t address = 0, bytes = 0;
  std::uint64_t to = 0;                    // move: its new address.
  std::optional<std::uint64_t> requested;  // Without padding. No value: it was not requested in bytes.
  std::string name;                        // The block's or the marker's. For a failure, the whole text.
  const Array* array = nullptr;            // alloc: the array in the block.
  std::size_t number = 0;                  // failure: its index in Emulation::failures.
};

// A request that was not served. Values that the runtime would not know either are absent.
struct EmulatedFailure {
  std::string text;
  Tier tier = Tier::hbm;
  std::size_t step = 0;
  std::string what;  // The array, program or kernel.
  std::uint64_t requested_bytes = 0;
  std::optional<std::uint64_t> free_bytes, largest_free_bytes, limit_bytes, used_bytes;
};

// A run that was skipped because an argument of its program was not on the device.
enum class Absence : std::uint8_t { never_put, refused, freed, donated };
struct SkippedRun {
  std::size_t step = 0;
  std::uint32_t program = 0;  // An index of Workload::programs.
  std::string argument;       // The array that is missing.
  Absence why = Absence::never_put;
  std::size_t gone_at_step = 0;  // The step at which it was refused, freed or donated.
};

struct Defragmentation {
  std::size_t step = 0;
  std::uint64_t requested_bytes = 0, moved_bytes = 0, moves = 0;
  std::uint64_t free_bytes = 0, largest_before = 0, largest_after = 0;
  std::uint64_t cost_ns = 0;  // Modelled: twice the moved bytes at the bandwidth of HBM, plus the stall.
};

struct KernelFigures {
  std::uint32_t pipeline = 0;
  std::string program;
  std::uint64_t vmem_bytes = 0, limit_bytes = 0;
  PipelineRun run;  // Without its events.
};

// Copies of a program's values to and from VMEM, over all its runs. Times are modelled.
struct SpaceFigures {
  std::uint64_t copies = 0, copied_bytes = 0;  // In both directions.
  // Parameters kept across programs: copied before a run, or still there from the last one.
  std::uint64_t fetched = 0, kept = 0;
  std::uint64_t stalls = 0, stall_ns = 0;  // Operations that waited for a copy.
};

struct TierFigures {
  bool is_used = false;
  std::optional<std::uint64_t> capacity_bytes;
  std::uint64_t peak_bytes = 0, end_bytes = 0;
};

struct Emulation {
  std::vector<Event> events;
  std::vector<ProgramMemory> programs;  // By Workload::programs, as rewritten by the options.
  std::vector<SpaceFigures> spaces;     // By Workload::programs.
  std::vector<KernelFigures> kernels;
  std::vector<EmulatedFailure> failures, gpu_failures;
  std::vector<SkippedRun> skipped_runs;
  std::vector<Defragmentation> defragmentations;
  std::array<TierFigures, tiers> tier;
  std::uint64_t hbm_bytes_per_second = 0;  // Each device's.
  std::uint64_t runs = 0, gpu_runs_skipped = 0, evictions = 0;
  std::uint64_t reused_bytes = 0;         // Donated buffers that outputs reused, over all runs.
  std::uint64_t time_ns = 0;              // Modelled.
  std::optional<std::size_t> stopped_at;  // The step whose failure ended the job.
  std::uint64_t gpu_free_bytes = 0, gpu_largest_free_bytes = 0, gpu_pool_base = 0;  // At the end.
};

// A workload and the result of its emulation.
struct EmulatedWorkload {
  Workload workload;
  Emulation emulation;
};

// Rewrites the programs for checkpointing. Call it once, before emulate().
void apply_options(Workload& workload);
// The workload must outlive the result. It may be moved, because its arrays keep their addresses. If `work` is over
// afterwards, the result is incomplete. It may be null.
Emulation emulate(const Workload& workload, Work* work = nullptr);
// The cost of an event in steps of Work, including its memory.
constexpr std::uint64_t steps_of_event = 200;

}  // namespace hbmscope::allocator::tpu
