// hbmscope ps: the jobs of this machine that hold device memory or could, by device.
#pragma once

namespace hbmscope::cli {

struct PsOptions {
  bool json = false;
  double interval = 0;  // Seconds between lists; 0: one only. With `json` each is a line.
};
int run_ps(const PsOptions& options);

}  // namespace hbmscope::cli
