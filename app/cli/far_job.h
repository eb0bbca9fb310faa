// attach and run on another machine: started there in the background (far_start.h), followed here by the link over ssh,
// and kept in a recording here too. A line that is lost ends neither: the observer goes on there, and the line is tried
// again.
#pragma once

#include <string>
#include <vector>

#include "app/cli/far_bundle.h"

namespace hbmscope::cli {

struct FarJobOptions {
  FarOptions far;
  std::vector<std::string> words;  // For the command there: attach 4711 ..., or run ... -- python train.py
  std::string record;              // Here; empty: NAME.hbm in the current folder.
  std::string name;
  bool no_window = false;
};

// run: the job's own exit code; attach: 0 when the job has ended or was detached.
int follow_far_job(const FarJobOptions& options, bool has_window);

}  // namespace hbmscope::cli
