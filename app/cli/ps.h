// hbmscope ps: the jobs of this machine that use device memory, or could, by device.
#pragma once

#include <string>

#include "app/cli/far_bundle.h"

namespace hbmscope::cli {

struct PsOptions {
  bool json = false;
  double interval = 0;  // Seconds between lists; 0: one only. With `json` each is a line.
  FarOptions far;
  std::string as;  // How this machine is named where this is read; empty: it is read here.
};
int run_ps(const PsOptions& options);

}  // namespace hbmscope::cli
