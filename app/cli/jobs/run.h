// hbmscope run: starts a job, watches its device memory, keeps a recording, and meanwhile shows it in the window.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/gate.h"
#include "app/cli/jobs/flight.h"
#include "app/cli/jobs/listen.h"
#include "app/cli/remote/far_bundle.h"

namespace hbmscope::cli {

struct RunOptions {
  std::string record;  // Empty: named after the job, in the current folder.
  bool no_window = false;
  bool no_follow = false;              // Observes only the started process, not its children.
  std::string wait = "all";            // Until when: the end of all processes, or of the command.
  std::string back_end = "interpose";  // How calls of the CUDA driver are recorded; or cupti.
  std::string stacks = "python";       // The stacks of those calls; or native, none.
  std::uint32_t stack_depth = 64;      // Maximum number of frames.
  std::string emulate;                 // The devices of a dry run, "h100:8", "v5e:2x4". Empty means the real ones.
  bool is_quick = false;               // TPUs: compile at a lower level of optimisation.
  std::uint32_t runs_ahead = 0;        // TPUs: how many executions are in flight.
  std::string device_bytes;            // Their memory, "40GiB". Empty means as the catalogue says.
  std::string values;                  // What unknown values are like: "worst" or "zeros". Empty means plausible.
  bool json = false;                   // The verdict of a dry run.
  std::size_t brief = 0;               // So many characters of it at most. 0 means all of it.
  GateOptions gate;                    // Checked after a dry run that ended well. Empty means no condition.
  std::vector<std::string> sweep;      // "batch=4,8,16": a dry run for each value.
  std::string largest;                 // The name of a sweep: only the largest value that fits.
  // The store that gets a digest at the end, and the run there. Empty if there is none.
  std::string digest, digest_run;
  FlightOptions flight;
  ListenOptions listen;
  std::vector<std::string> command;
  FarOptions far;
  std::vector<std::string> words;      // For another machine: the options as given.
  std::vector<std::string> run_words;  // For a single run of a sweep: the same, without those of the sweep.
};

// "train.py" of "python train.py", "pkg.train" of "torchrun -m pkg.train"; otherwise the program.
std::string name_of_job(const std::vector<std::string>& command);

// The job's exit code, or 128 + the signal that ended it, as in a shell. If this program has a window (`has_window`)
// and there is a display, the window opens in a separate process.
int run_job(const RunOptions& options, bool has_window);

}  // namespace hbmscope::cli
