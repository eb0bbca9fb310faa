// What a run on emulated devices left behind, for its verdict (analysis/judge/dry_run.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/judge/dry_run.h"
#include "app/cli/dry_run/emulated_machine.h"

namespace hbmscope::cli {

// What is known when a run has ended.
struct DryRunSources {
  std::string
      folder;  // With the reports of its processes (allocator/emulated/cuda/python) and the accounts of the devices.
  EmulatedMachine machine;
  int exit_code = 0;               // As in a shell.
  std::int64_t pid = 0;            // The command itself.
  std::string recording;           // Empty: there is none.
  bool has_memory_dumps = false;   // XLA's allocator wrote one: it refused a request, perhaps for a moment only.
  std::string doubt;               // Why a framework may not have used the devices. Empty if no reason is known.
  std::optional<TpuRun> tpu = {};  // What is known of an emulated slice before its account is read.
};
DryRun read_dry_run(const DryRunSources& sources);

// Puts the plans next to the recording: "train.programs" for "train.hbm". Other files of that folder stay.
void keep_plans(const std::string& recording, TpuRun& run);

}  // namespace hbmscope::cli
