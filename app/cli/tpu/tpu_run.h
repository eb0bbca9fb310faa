// hbmscope tpu run: emulates a workload file.
#pragma once

#include <string>
#include <vector>

#include "app/cli/cli.h"

namespace hbmscope::cli {

struct TpuRunOptions {
  std::string file, generation;
  std::vector<std::string> what_if;  // KEY=VALUE
  std::string record, oom_log;       // Files to write. Empty if there is none.
  std::string max_size = "64MiB";
  bool timed = false, json = false;
  GateOptions gate;     // Its fields are those of tpu fit.
  bool window = false;  // Opens it in the window, with the same changes.
};
int run_tpu_workload(const TpuRunOptions& options);
// Opens the file in the window, with the same changes.
int open_tpu_workload(const TpuRunOptions& options, const OpenWindow& open_window);

}  // namespace hbmscope::cli
