// hbmscope savings: what would lower the peak?
#pragma once

#include <cstddef>
#include <string>
#include <vector>
#include "app/cli/gate.h"

namespace hbmscope::cli {

struct SavingsOptions {
  std::vector<std::string> files;
  std::string by = "line";  // line, function, category or tag.
  std::string heap;         // Its name. Empty means the most relevant one.
  std::string lower_by;     // Bytes, "500MiB". Empty if not requested.
  std::size_t top = 10;     // 0: all rows.
  std::string max_size = "4GiB";
  GateOptions gate;  // Empty: no condition.
  bool json = false;
  std::size_t brief = 0;  // So many characters of JSON at most; 0: all of it.
};

int run_savings(const SavingsOptions& options);  // Returns the exit code.

}  // namespace hbmscope::cli
