// The single runs of a sweep: each is a `hbmscope run --emulate --json` in a process of its own.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/cli/dry_run/sweep_axis.h"

namespace hbmscope::cli {

struct RunOptions;

struct SweepRun {
  std::string device;  // As given: "h100:8".
  std::vector<SweepValue> values;
  nlohmann::ordered_json verdict;  // As run --json prints it. Null if there is none.
  double seconds = 0;
  bool has_started = false;
  bool is_confirmed = false;  // In a quick sweep: this run alone is not quick.

  // "fits", "out of memory", "failed", "unknown", "no verdict", "not run".
  std::string outcome() const;
  // The device with the least to spare. Null means no figures.
  const nlohmann::ordered_json* fullest_device() const;
};

class SweepRuns {
 public:
  // Recordings and messages go to the folder, which exists.
  SweepRuns(const RunOptions& options, std::string folder) : options_(options), folder_(std::move(folder)) {}

  // Calls act(0) to act(count - 1), as many at a time as cores and memory allow. Returns early if a signal has asked to
  // stop: running jobs were then asked to end, too.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& act);
  // One run. Does nothing if a signal has asked to stop. Safe with threads.
  void execute(SweepRun& run);

  const std::string& folder() const { return folder_; }
  bool is_quick() const;
  // SIGINT, SIGTERM or SIGHUP, if it was received; otherwise 0.
  int stop_signal() const;

 private:
  std::string name_for(const SweepRun& run);
  void stop_running_jobs();

  const RunOptions& options_;
  std::string folder_;
  std::mutex mutex_;
  std::set<pid_t> running_;
  std::set<std::string> names_;
};

}  // namespace hbmscope::cli
