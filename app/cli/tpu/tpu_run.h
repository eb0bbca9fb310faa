// hbmscope tpu run: emulates a workload file.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "analysis/query/workload_verdict.h"
#include "app/cli/cli.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct TpuRunOptions {
  std::string file, generation;
  std::vector<std::string> what_if;  // KEY=VALUE
  std::string record, oom_log;       // Files to write. Empty if there is none.
  std::string max_size = "64MiB";
  bool timed = false, json = false;
  bool window = false;  // Opens it in the window, with the same changes.
};
int run_tpu_workload(const TpuRunOptions& options);
// Opens the file in the window, with the same changes.
int open_tpu_workload(const TpuRunOptions& options, const OpenWindow& open_window);

// As text. `other` is the unmodified workload, to compare with; null if there are no what-ifs.
std::string text_from_emulation(const EmulatedWorkload& run, const EmulatedWorkload* other, const Terminal& terminal);
// The verdict alone: "fits: 2 runs of programs, no request refused", or "does not fit:" and the reasons.
std::string text_from_verdict(const EmulatedWorkload& run, const Terminal& terminal);
// The same for `report --json` and `explain --json`, which have it first for a workload.
nlohmann::ordered_json json_from_verdict(const EmulatedWorkload& run);
// Described in app/cli/JSON.md.
nlohmann::ordered_json json_from_emulation(const EmulatedWorkload& run);
// The key "reasons" of `tpu run --json` and `tpu fit --json`.
nlohmann::ordered_json json_from_reasons(const std::vector<WorkloadReason>& reasons);

}  // namespace hbmscope::cli
