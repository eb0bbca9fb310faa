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

#include "allocator/device/model/accounts.h"
#include "analysis/judge/dry_run_holders.h"
#include "analysis/judge/dry_run_proof.h"
#include "analysis/judge/emulated_machine.h"
#include "analysis/judge/tpu_dry_run.h"
#include "analysis/model/result.h"
#include "analysis/query/where.h"
#include "analysis/read/source/read_source.h"

namespace hbmscope {

// A framework's pool in one process on one device, in bytes. Peaks are the framework's own statistics, or those of the
// recording where they are higher, as a program may reset the statistics (torch.cuda.reset_peak_memory_stats()). What
// neither says is absent.
struct FrameworkUse {
  std::string framework;  // "jax", "torch"
  std::int64_t pid = 0;
  std::optional<std::uint32_t> ordinal;  // Of the device, as the process numbers it; absent: unknown.
  std::optional<std::uint64_t> peak_in_use_bytes, peak_pool_bytes;
  std::optional<std::uint64_t> limit_bytes;       // Of what is in use: XLA's pool.
  std::optional<std::uint64_t> pool_limit_bytes;  // Of the pool: PyTorch's memory fraction.
};

// One device, in bytes.
struct DeviceNeed {
  int device = 0;  // Its number on the machine, whatever CUDA_VISIBLE_DEVICES hides.
  std::uint64_t total_bytes = 0, context_bytes = 0;
  std::uint64_t peak_bytes = 0;  // Of all that processes took at one time, their contexts included.
  std::size_t processes = 0;     // That used it.
  std::vector<FrameworkUse> frameworks;
  std::optional<TpuPeak> tpu;  // Of an emulated TPU.

  // What more would have fit.
  std::uint64_t spare_bytes() const;
  // True if a framework's limit decides that, not the device.
  bool is_limited_by_pool() const;
};

struct DryRunFailure {
  std::string type, text;  // "XlaRuntimeError", "RESOURCE_EXHAUSTED: Out of memory while ..."
  bool is_out_of_memory = false;
  std::string function, file;  // The innermost frame of the user's code; empty: unknown.
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
  std::string reason;             // Of "failed" and "unknown", if there is no failure: "exit code 3".
  std::vector<DeviceNeed> needs;  // By device.
  std::optional<DryRunFailure> failure;
  std::string survived;      // Lack of memory that the job went on from: "PyTorch refused 2 requests"; empty: none.
  std::string refused_last;  // What the driver refused, with no retry until the job failed with another error.
  std::vector<DryRunHolder> holders;  // Largest first; empty: unknown.
  DryRunProof proof;
  int exit_code = 0;
  std::string recording;               // Empty: there is none.
  std::shared_ptr<const Trace> trace;  // What it contains; null: there is none.
  std::uint64_t host_peak_bytes = 0;   // Of the largest process.
  std::optional<TpuRun> tpu;           // Of an emulated slice.

  const DeviceNeed* fullest() const;  // The device with the least to spare; null: none was used.
};

// What one process reported of itself (allocator/device/python/hbmscope_dry_run.py).
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
  std::vector<FrameworkFigures> figures;
  TrainingReport training;

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
  std::int64_t pid = 0;                // Of the command itself.
  std::vector<ProcessReport> reports;  // By process.
  device::AccountsReport accounts;
  std::vector<allocator::tpu::TpuAccount> tpu_accounts;
  std::string recording;          // Empty: there is none.
  std::optional<Source> at_peak;  // The recording when most was in use.
  bool has_memory_dumps = false;  // XLA's allocator wrote one: it refused a request, perhaps for a moment only.
  std::string doubt;              // Why a framework may not have used the devices; empty: no reason is known.
  std::uint64_t host_peak_bytes = 0;
  std::optional<TpuRun> tpu = {};  // What is known of an emulated slice before its account is read.
};
DryRun judge_dry_run(const DryRunFindings& found);

// What its recording keeps of a verdict, as facts about the job (analysis/query/job_facts.h).
struct RecordedVerdict {
  std::string outcome, text;
};
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
std::string text_from_assumptions(std::uint64_t context_bytes);
// The verdict, and what it assumes.
std::string text_from_dry_run(const DryRun& run);
// What a dry run on GPUs doesn't emulate.
inline constexpr std::array<const char*, 2> not_emulated = {
    "memory of code", "workspaces that cuBLAS, cuDNN and NCCL allocate themselves"};

}  // namespace hbmscope
