// The verdict of a dry run on TPUs: what the emulated slice's account says, in words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "allocator/tpu/plugin/account.h"
#include "analysis/judge/dry_run_holders.h"

namespace hbmscope {

struct DeviceNeed;
struct DryRun;
struct EmulatedMachine;

extern const char* const tpu_assumptions;  // What no figure of a dry run on TPUs contains, and what is assumed in each.

// One device when most was in use, in bytes.
struct TpuPeak {
  std::uint64_t arguments = 0;           // Arrays that the program in progress got or made.
  std::uint64_t program = 0;             // Temporaries of the largest loaded program, and the code of all.
  std::uint64_t others = 0;              // Other arrays.
  std::uint64_t padding = 0;             // Of all these arrays, to whole tiles.
  std::string in_progress;               // "jit_train_step"; empty: no program.
  std::uint64_t plan = 0;                // Of that program: its number in the folder of plans.
  std::uint64_t execution = 0;           // Of that program, from 1.
  std::uint64_t host_bytes = 0;          // The most in pinned host memory, at any time.
  std::uint64_t moves = 0, unloads = 0;  // Buffers that defragmentation has moved, programs that made room.
};

// A program as the compiler has planned it, also one that it refused. Bytes of one device.
struct PlannedProgram {
  std::string name;  // "jit_train_step"
  std::uint64_t arguments = 0, outputs = 0, aliased = 0, temporaries = 0;
  std::uint64_t donatable = 0;        // Outputs as large as arguments that are kept, whose memory they could take.
  std::vector<DryRunHolder> holders;  // Lines of your code, when most is live.
};

// The slice as a whole.
struct TpuRun {
  std::string topology, compiler;
  std::uint64_t compiled_programs = 0, cached_programs = 0, executions = 0;
  double compile_seconds = 0;
  // Executions whose arguments were summed up, and those where the compiler's sum was another.
  std::uint64_t compared_executions = 0, differing_executions = 0;
  // What had to be guessed: layouts of so many arrays, aliases of so many programs.
  std::uint64_t guessed_layouts = 0, programs_without_aliases = 0;
  std::string refused_program;  // The last one that the compiler refused; empty: none.
  std::string unsupported;      // The first function of PJRT that isn't emulated and was called; empty: none.
  // What was missing when memory ran out, and for what: "jit_train_step", or empty for an array.
  std::optional<std::uint64_t> over_bytes;
  std::string over_program;
  bool is_of_hbm = true;  // Otherwise of VMEM or another memory of the chip.
  bool is_quick = false;  // Compiled at a lower level of optimisation.
  std::string plans;      // The folder with the programs' memory plans; empty: none.
  std::optional<PlannedProgram> refused;
  std::optional<PlannedProgram> at_peak;  // In progress on the fullest device when most was in use.
};

std::vector<DeviceNeed> tpu_needs_from(std::span<const allocator::tpu::TpuAccount> accounts,
                                       const EmulatedMachine& machine, TpuRun& run);
// After the failure is known: how much was missing, and what the programs that matter have planned, from their files.
void explain_tpu_run(DryRun& run);

// "13.1 GiB of 15.7 GiB on the fullest of 8 chips, in execution 2 of jit_train_step (arguments 9.41 GiB, ...)"
std::string text_from_tpu_need(const DryRun& run, const DeviceNeed& need);
// "over by 2.15 GiB in jit_train_step: "; empty: unknown.
std::string text_from_missing(const TpuRun& run);
// The lines below the headline: what would help, what is assumed.
std::string text_below_tpu_headline(const DryRun& run);

}  // namespace hbmscope
