// What a run on emulated devices needed, and whether it fits there: the verdict, from what its processes, the devices'
// accounts and the recording say.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocator/emulated/accounts/accounts.h"
#include "allocator/emulated/accounts/tpu_account.h"
#include "allocator/emulated/gpus/gpus.h"
#include "allocator/emulated/tpu/generation.h"
#include "analysis/model/result.h"
#include "analysis/query/read_place.h"
#include "analysis/query/where.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope {

// Which devices it ran on, how many, and how large they are.
struct EmulatedMachine {
  allocator::DevicePreset device;  // For a TPU, name and title only.
  int count = 1;                   // GPUs: 1 to device::device_count_max. TPUs: as JAX counts them (generation.h).
  // Each device's memory: as cuMemGetInfo reports it, or what the TPU's compiler allows a program.
  std::uint64_t device_bytes = 0;
  const allocator::tpu::Generation* tpu = nullptr;  // Null: GPUs.
  std::string topology;                             // For TPUs: "v5e:2x4".

  // "GPU 3", "TPU 3".
  std::string name_of_device(int number) const;
  const char* tpu_unit() const { return tpu->devices_per_chip == 1 ? "chip" : "core"; }  // What a TPU device is.
};

// A line of the user's code that held much when most was in use.
struct DryRunHolder {
  std::string line;  // "train_step train.py:55"
  std::uint64_t bytes = 0;
};

extern const char* const tpu_assumptions;  // What no figure of a dry run on TPUs contains, and what is assumed in each.

// One device when most was in use, in bytes.
struct TpuPeak {
  std::uint64_t arguments = 0;           // Arrays that the program in progress got or made.
  std::uint64_t program = 0;             // Temporaries of the largest loaded program, and the code of all.
  std::uint64_t others = 0;              // Other arrays.
  std::uint64_t padding = 0;             // What padding to whole tiles adds to these arrays.
  std::string in_progress;               // "jit_train_step". Empty means no program.
  std::uint64_t plan = 0;                // That program's number in the folder of plans.
  std::uint64_t execution = 0;           // Counted from 1 for that program.
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
  std::string refused_program;  // The last one that the compiler refused. Empty if there is none.
  std::string unsupported;  // The first function of PJRT that isn't emulated and was called. Empty if there is none.
  // What was missing when memory ran out, and for what: "jit_train_step", or empty for an array.
  std::optional<std::uint64_t> over_bytes;
  std::string over_program;
  bool is_of_hbm = true;  // Otherwise of VMEM or another memory of the chip.
  bool is_quick = false;  // Compiled at a lower level of optimisation.
  std::string plans;      // The folder with the programs' memory plans. Empty if there is none.
  std::optional<PlannedProgram> refused;
  std::optional<PlannedProgram> at_peak;  // In progress on the fullest device when most was in use.
};

// Reads of values that no kernel had computed, from one line of the program, by one operation: sizes and branches may
// depend on them, and a dry run does not prove what follows.
struct ValueRead : ReadPlace {
  std::uint64_t count = 0;
  std::uint64_t bytes_max = 0;  // In one read.
  // What was assumed of the size, in elements: from the least to the most, and what it could be at worst.
  struct Assumed {
    std::uint64_t least = 0, most = 0, worst = 0;
  };
  std::optional<Assumed> assumed = {};
};

// What one process assumed of sizes that depend on values (allocator/emulated/cuda/python/hbmscope_values.py).
struct AssumedSize {
  std::string what, line;  // As in ReadPlace.
  std::uint64_t times = 0;
  ValueRead::Assumed assumed;
};

// What one process saw of training with PyTorch.
struct TrainingReport {
  bool has_optimizer = false;          // It made one.
  std::optional<std::uint64_t> steps;  // Steps of all its optimizers. Absent if unknown.
};

// What the run as a whole saw of it.
struct Training {
  bool has_optimizer = false;
  std::optional<std::uint64_t> steps;
  std::optional<bool> has_backward;  // Absent: unknown, as there are no stacks.
};

// What a verdict of a dry run does not prove.
struct DryRunProof {
  std::vector<ValueRead> reads;   // Those that decide sizes first, then by their number.
  std::uint64_t large_reads = 0;  // Reads of whole outputs, which seldom decide anything.
  Training training;
};

// A framework's pool in one process on one device, in bytes. Peaks are the framework's own statistics, or those of the
// recording where they are higher, as a program may reset the statistics (torch.cuda.reset_peak_memory_stats()). What
// neither says is absent.
struct FrameworkUse {
  std::string framework;  // "jax", "torch"
  std::int64_t pid = 0;
  std::optional<std::uint32_t> ordinal;  // The device, as the process numbers it. Absent if unknown.
  std::optional<std::uint64_t> peak_in_use_bytes, peak_pool_bytes;
  std::optional<std::uint64_t> limit_bytes;       // Limits what is in use: XLA's pool.
  std::optional<std::uint64_t> pool_limit_bytes;  // Limits the pool: PyTorch's memory fraction.
  bool grows_on_demand = false;                   // XLA_PYTHON_CLIENT_PREALLOCATE=false.
};

// One device, in bytes.
struct DeviceNeed {
  int device = 0;  // Its number on the machine, whatever CUDA_VISIBLE_DEVICES hides.
  std::uint64_t total_bytes = 0, context_bytes = 0;
  std::uint64_t peak_bytes = 0;  // What all processes took at one time, their contexts included.
  std::size_t processes = 0;     // That used it.
  std::vector<FrameworkUse> frameworks;
  std::optional<TpuPeak> tpu;  // For an emulated TPU.

  // What more would have fit.
  std::uint64_t spare_bytes() const;
  // True if a framework's limit decides that, not the device.
  bool is_limited_by_pool() const;
};

struct DryRunFailure {
  std::string type, text;  // "XlaRuntimeError", "RESOURCE_EXHAUSTED: Out of memory while ..."
  bool is_out_of_memory = false;
  std::string function, file;  // The innermost frame of the user's code. Empty if unknown.
  int line = 0;
  std::int64_t pid = 0;
};

enum class DryRunOutcome : std::uint8_t {
  fits,
  out_of_memory,
  failed,   // It ended early for another reason, so it may need more than was seen.
  unknown,  // It was interrupted, or no process used an emulated device.
};

struct DryRun {
  EmulatedMachine machine;
  DryRunOutcome outcome = DryRunOutcome::unknown;
  std::string reason;             // For "failed" and "unknown", if there is no failure: "exit code 3".
  std::vector<DeviceNeed> needs;  // By device.
  std::optional<DryRunFailure> failure;
  // Functions of CUDA that the process that failed called in vain, the last one first. The framework may have gone on
  // from any of them.
  std::vector<std::string> called_in_vain;
  bool has_rnn_estimates = false;  // cuDNN's spaces for recurrent networks.
  // Lack of memory that the job went on from: "PyTorch refused 2 requests". Empty if there is none.
  std::string survived;
  std::string refused_last;           // What the driver refused, with no retry until the job failed with another error.
  bool is_unread = false;             // JAX had no room for an array that the job never read, so it raised nothing.
  std::vector<DryRunHolder> holders;  // Largest first. Empty if unknown.
  DryRunProof proof;
  int exit_code = 0;
  std::string recording;               // Empty: there is none.
  std::shared_ptr<const Trace> trace;  // What it contains. Null if there is none.
  std::uint64_t host_peak_bytes = 0;   // In the largest process.
  std::optional<TpuRun> tpu;           // For an emulated slice.

  const DeviceNeed* fullest() const;  // The device with the least to spare. Null if none was used.
};

// What one process reported of itself (allocator/emulated/cuda/python/hbmscope_dry_run.py).
struct FrameworkFigures {
  FrameworkUse use;
  int device = 0;
  std::uint64_t refused_requests = 0;
};
struct ProcessReport {
  std::int64_t pid = 0;
  std::optional<DryRunFailure> failure;
  bool is_of_thread = false;          // The failure ended a thread, and the process went on.
  bool has_ended_with_error = false;  // For processes of Python's multiprocessing, whose failure is not known.
  // How often JAX raised lack of memory. Nothing: unknown, or there was no JAX.
  std::optional<std::uint64_t> jax_errors;
  std::vector<FrameworkFigures> figures;
  TrainingReport training;
  std::vector<AssumedSize> assumed;
  std::vector<std::string> not_emulated;  // Functions of CUDA that it called in vain, in the order of first calls.
  std::vector<std::string> estimated;     // Those whose answers are estimates.

  std::uint64_t refused_requests() const {
    std::uint64_t sum = 0;
    for (const FrameworkFigures& one : figures) sum += one.refused_requests;
    return sum;
  }
};

// All that is known when a run has ended.
struct DryRunFindings {
  EmulatedMachine machine;
  int exit_code = 0;                   // As in a shell.
  std::string exit_text;               // In words: "exit code 3", "killed by SIGKILL".
  bool is_interrupted = false;         // By a signal that a person or a scheduler sends.
  std::int64_t pid = 0;                // The command itself.
  std::vector<ProcessReport> reports;  // By process.
  device::AccountsReport accounts;
  std::vector<allocator::tpu::TpuAccount> tpu_accounts;
  std::string recording;          // Empty: there is none.
  std::optional<Source> at_peak;  // The recording when most was in use.
  bool has_memory_dumps = false;  // XLA's allocator wrote one: it refused a request, perhaps for a moment only.
  std::string doubt;              // Why a framework may not have used the devices. Empty if no reason is known.
  std::uint64_t host_peak_bytes = 0;
  std::optional<TpuRun> tpu = {};  // What is known of an emulated slice before its account is read.
};
DryRun judge_dry_run(const DryRunFindings& found);

// What its recording keeps of a verdict, as facts about the job (analysis/query/job_facts.h).
struct RecordedVerdict {
  std::string outcome, text;
};
// How the text names the device that its figures are of, if there are several.
constexpr std::string_view figures_of = "These are the figures of ";
// Nothing: it is not the recording of a dry run that ended.
std::optional<RecordedVerdict> find_recorded_verdict(const Trace& trace);

// A recording or a plan at the peak, or at the end if nothing was ever in use.
Result<Source> read_at_peak(const std::string& file);

// --fail-if, for each device that was used. Errors: an invalid condition, or no device was used.
std::span<const WhereField> dry_run_gate_fields();
Result<std::optional<std::string>> find_gate_failure(const std::string& expression, const DryRun& run);

std::string_view word_for(DryRunOutcome outcome);  // "fits", "out of memory", "failed", "unknown"
// For table cells: "PyTorch's message (train_step, train.py:88)".
std::string text_from_failure(const DryRunFailure& failure);
// What no figure of a dry run contains, and what is assumed in each.
std::string text_from_assumptions(std::uint64_t context_bytes, bool has_rnn_estimates = false);
inline constexpr const char* rnn_estimates = "what cuDNN keeps of an RNN, after sizes measured with cuDNN 7";
// The verdict, and what it assumes.
std::string text_from_dry_run(const DryRun& run);
// What a dry run on GPUs doesn't emulate.
inline constexpr std::array<const char*, 2> not_emulated = {
    "memory of code", "workspaces that cuBLAS, cuDNN and NCCL allocate themselves"};

// The parts of judge_dry_run, and the words of the verdict.

// The lines in a recording, a dump or a program's plan, when most was in use; the largest first. Empty if unknown.
std::vector<DryRunHolder> find_holders(const Source& at_peak);
// "5.00 GiB by init_weights train.py:10, 256 MiB by ...": the largest three. One that holds less than a hundredth of
// `total_bytes` is left out.
std::string text_from_holders(std::span<const DryRunHolder> holders, std::uint64_t total_bytes);
// `trace`: the run's recording. Null if there is none, and no line is known but those of the assumed sizes.
std::vector<ValueRead> value_reads_from(std::span<const device::ValueReads> reads, std::span<const AssumedSize> assumed,
                                        const Trace* trace);
Training training_from(std::span<const TrainingReport> reports, const Trace* trace);

// Whole lines, for below the headline. Empty if there is nothing to say.
std::string text_from_proof(const DryRunProof& proof);
// For a note below the table of a sweep: "sizes", "values", "training".
std::vector<std::string> doubts_of(const DryRunProof& proof);
std::vector<DeviceNeed> tpu_needs_from(std::span<const allocator::tpu::TpuAccount> accounts,
                                       const EmulatedMachine& machine, TpuRun& run);
// After the failure is known: how much was missing, and what the programs that matter have planned, from their files.
void explain_tpu_run(DryRun& run);
// "a smaller batch, or ...: 11.9 GiB of temporaries". Nothing if the program fits, or what it lacks is no HBM.
std::vector<std::string> changes_that_could_help(const DryRun& run);

// "13.1 GiB of 15.7 GiB on the fullest of 8 chips, in execution 2 of jit_train_step (arguments 9.41 GiB, ...)"
std::string text_from_tpu_need(const DryRun& run, const DeviceNeed& need);
// "over by 2.15 GiB in jit_train_step: ". Empty if unknown.
std::string text_from_missing(const TpuRun& run);
// The lines below the headline: what would help, what is assumed.
std::string text_below_tpu_headline(const DryRun& run);

}  // namespace hbmscope
