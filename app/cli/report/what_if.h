// hbmscope whatif: the recorded requests under other settings, as a table.
#pragma once

#include <cstddef>
#include <string>
#include <vector>
#include "app/cli/gate.h"

namespace hbmscope::cli {

struct WhatIfOptions {
  std::vector<std::string> files;
  std::string max_size = "4GiB";
  std::string device, device_bytes;  // A number, or a GPU; a size. Empty means as recorded.
  std::string outside;               // A size. Empty means as recorded.
  std::vector<std::string> tries;    // "NAME=VALUE ...", one setting each. Empty means the usual ones.
  GateOptions gate;                  // Empty: no condition.
  bool json = false;
  std::size_t brief = 0;  // So many characters of JSON at most; 0: all of it.
};

int run_what_if(const WhatIfOptions& options);

}  // namespace hbmscope::cli
