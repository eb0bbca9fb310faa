// hbmscope ps: the jobs of this machine that use device memory or could use it, by device.
#pragma once

#include <string>

#include "app/cli/remote/far_bundle.h"

namespace hbmscope::cli {

struct PsOptions {
  bool json = false;
  double interval = 0;  // Seconds between lists. 0 means only one list. With `json`, one line per list.
  FarOptions far;
  std::string as;  // This machine's name on the machine where the list is read. Empty means the same machine.
};
int run_ps(const PsOptions& options);

}  // namespace hbmscope::cli
