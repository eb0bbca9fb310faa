// A workload on one device of its mesh; the others do the same at the same time. What happens is a list of events, in
// order: blocks of each memory come, move and go, operations and kernels begin and end, requests fail in the words of
// the runtime.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/tpu/emulation/pipeline.h"
#include "allocator/tpu/emulation/program_memory.h"
#include "allocator/tpu/emulation/workload.h"

namespace hbmscope::allocator::tpu {

enum class Tier : std::uint8_t {
  hbm,          // Buffers, and in one block what programs have reserved.
  temporaries,  // Inside of that block: what the running program has there.
  vmem,
  windows,  // Inside of VMEM's buffers: the blocks that are in them.
  smem,
  cmem,
  accumulator,
  tile_spmem,
  host,
  gpu,  // The pool beside it.
};
constexpr std::size_t tiers = 10;
// Where a temporary of a running program is; in HBM that is the block of temporaries.
Tier temporary_tier(const Program& program, std::uint32_t value);
std::string_view text_from_tier(Tier tier);  // As the compiler names it: "hbm", "vmem", ...; "gpu".

// Copies begin and end beside what runs: not inside of one another, as programs, operations and kernels do.
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
  std::uint64_t to = 0;                    // move: where it begins now.
  std::optional<std::uint64_t> requested;  // Without padding; nothing: it was not requested in bytes.
  std::string name;                        // Of the block or the mark; failure: the whole text.
  const Array* array = nullptr;            // alloc: what it is.
  std::size_t number = 0;                  // failure: in Emulation::failures.
};

// A request that was not served. What the runtime would not know either is absent.
struct EmulatedFailure {
  std::string text;
  Tier tier = Tier::hbm;
  std::size_t step = 0;
  std::string what;  // The array, program or kernel.
  std::uint64_t asked_bytes = 0;
  std::optional<std::uint64_t> free_bytes, largest_free_bytes, limit_bytes, used_bytes;
};

// A run that did not take place: an argument of its program was not on the device.
enum class Absence : std::uint8_t { never_put, refused, freed, donated };
struct SkippedRun {
  std::size_t step = 0;
  std::uint32_t program = 0;  // Of Workload::programs.
  std::string argument;       // The array that is missing.
  Absence why = Absence::never_put;
  std::size_t gone_at_step = 0;  // Of what was refused, freed or donated.
};

struct Defragmentation {
  std::size_t step = 0;
  std::uint64_t asked_bytes = 0, moved_bytes = 0, moves = 0;
  std::uint64_t free_bytes = 0, largest_before = 0, largest_after = 0;
  std::uint64_t cost_ns = 0;  // Modelled: twice the moved bytes at the bandwidth of HBM, and the stall.
};

struct KernelFigures {
  std::uint32_t pipeline = 0;
  std::string program;
  std::uint64_t vmem_bytes = 0, limit_bytes = 0;
  PipelineRun run;  // Without events.
};

// Of a program's values in VMEM, over all its runs. Times are modelled.
struct SpaceFigures {
  std::uint64_t copies = 0, copied_bytes = 0;  // In both directions.
  std::uint64_t fetched = 0, kept = 0;     // Parameters across programs: copied before a run, there from the last one.
  std::uint64_t stalls = 0, stall_ns = 0;  // Operations that waited for a copy.
};

struct TierFigures {
  bool is_used = false;
  std::optional<std::uint64_t> capacity_bytes;
  std::uint64_t peak_bytes = 0, end_bytes = 0;
};

struct Emulation {
  std::vector<Event> events;
  std::vector<ProgramMemory> programs;  // By Workload::programs, rewritten as the options ask for.
  std::vector<SpaceFigures> spaces;     // By Workload::programs.
  std::vector<KernelFigures> kernels;
  std::vector<EmulatedFailure> failures, gpu_failures;
  std::vector<SkippedRun> skipped_runs;
  std::vector<Defragmentation> defragmentations;
  std::array<TierFigures, tiers> tier;
  std::uint64_t hbm_bytes_per_second = 0;  // Of a device.
  std::uint64_t runs = 0, gpu_runs_skipped = 0, evictions = 0;
  std::uint64_t reused_bytes = 0;         // Of donated buffers, over all runs.
  std::uint64_t time_ns = 0;              // Modelled.
  std::optional<std::size_t> stopped_at;  // The step whose failure ended the job.
  std::uint64_t gpu_free_bytes = 0, gpu_largest_free_bytes = 0, gpu_pool_base = 0;  // At the end.
};

// A workload, and what came of it.
struct EmulatedWorkload {
  Workload workload;
  Emulation emulation;
};

// Programs as checkpointing leaves them: what an emulation is of. Call it once, before emulate().
void apply_options(Workload& workload);
// The workload must outlive what comes back; it may be moved, which leaves its arrays where they are. Where `work` is
// over by then, it is not the whole emulation; null: as much as it takes.
Emulation emulate(const Workload& workload, Work* work = nullptr);
// Of Work, for an event: for what it takes of memory too.
constexpr std::uint64_t steps_of_event = 200;

}  // namespace hbmscope::allocator::tpu
