// attach and run on another machine. The command starts there in the background (far_start.h); this side follows it
// over ssh and keeps a recording here too. A lost connection ends neither: the observer continues there, and this side
// reconnects.
#pragma once

#include <string>
#include <vector>

#include "app/cli/remote/far_bundle.h"

namespace hbmscope::cli {

struct FarJobOptions {
  FarOptions far;
  std::vector<std::string> words;  // The remote command's arguments: attach 4711 ..., or run ... -- python train.py
  std::string record;              // On this machine. Empty means NAME.hbm in the current folder.
  std::string name;
  bool no_window = false;
};

// For run, the job's exit code; for attach, 0 when the job has ended or was detached.
int follow_far_job(const FarJobOptions& options, bool has_window);

}  // namespace hbmscope::cli
