// What a run on an emulated device needed, and whether it fits there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "app/cli/emulated_machine.h"

namespace hbmscope::cli {

// One process on one device, in bytes.
struct DeviceNeed {
  int device = 0;
  std::uint64_t total_bytes = 0, context_bytes = 0;
  std::uint64_t peak_bytes = 0;  // Of everything that the process took, its context included.
  // What the framework reports of its pool; unknown if it has none.
  std::string framework;  // "jax", "torch"
  std::optional<std::uint64_t> peak_in_use_bytes, peak_pool_bytes, limit_bytes;

  // What else would have fit: of the pool's limit if there is one, otherwise of the device.
  std::uint64_t spare_bytes() const;
};

struct DryRunFailure {
  std::string type, text;  // "XlaRuntimeError", "RESOURCE_EXHAUSTED: Out of memory while ..."
  bool is_out_of_memory = false;
  std::string function, file;  // The innermost frame of the user's code; empty: unknown.
  int line = 0;
};

enum class DryRunOutcome : std::uint8_t {
  fits,
  out_of_memory,
  failed,   // It ended with an error that has nothing to do with memory, so larger needs may be hidden.
  unknown,  // No process used an emulated device, or none ended in a way that it could report.
};

struct DryRun {
  EmulatedMachine machine;
  std::vector<DeviceNeed> needs;  // By device; of several processes on one device, the largest.
  std::optional<DryRunFailure> failure;
  int exit_code = 0;
  std::string recording;

  DryRunOutcome outcome() const;
  const DeviceNeed* tightest() const;  // With the least to spare; null: none is known.
};

// Reads the reports that allocator/device/python/hbmscope_dry_run.py has written to the folder. Files that are none are
// skipped.
DryRun read_dry_run(const std::string& folder, const EmulatedMachine& machine, int exit_code);

// For programs that report nothing, e.g. because they are not Python: the peaks of the driver's memory in the
// recording, and the last request that the driver refused, if the job failed. Does nothing if there is a report or no
// recording.
void add_recorded_needs(DryRun& run);

std::string_view word_for(DryRunOutcome outcome);  // "fits", "out of memory", "failed", "unknown"
// "out of memory" in table cells: "PyTorch's message (train.py:88)".
std::string text_from_failure(const DryRunFailure& failure);
// The verdict, and what it assumes.
std::string text_from_dry_run(const DryRun& run);
nlohmann::ordered_json json_from_dry_run(const DryRun& run);

}  // namespace hbmscope::cli
