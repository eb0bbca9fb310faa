// hbmscope ps: the jobs of this machine that hold device memory or could, by device.
#pragma once

namespace hbmscope::cli {

struct PsOptions {
  bool json = false;
};
int run_ps(const PsOptions& options);

}  // namespace hbmscope::cli
