// hbmscope run --emulate a100-40,h100 --sweep batch=4,8,16 -- python train.py --batch {batch}: the same job on several
// devices and with several values, side by side, as one table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/dry_run.h"

namespace hbmscope::cli {

struct RunOptions;

// The values of one placeholder, in their order.
struct SweepAxis {
  std::string name;
  std::vector<std::string> values;  // Of a range 4..64, which only --largest takes: the two ends.
  bool is_range = false;
};
// "batch=4,8,16" or "batch=1..64". Errors: no name, no value, an empty value, or a range whose ends are no ascending
// numbers.
Result<SweepAxis> sweep_axis_from(const std::string& text);

// The command with each {NAME} replaced by its value. Errors: no word of the command has {NAME}.
struct SweepValue {
  std::string name, value;
};
Result<std::vector<std::string>> command_with(const std::vector<std::string>& command,
                                              const std::vector<SweepValue>& values);

// All devices ("a100-40,h100:8") times all values. Prints the table, or JSON, and returns 0 if every run ended with a
// verdict, whatever it is. Errors are printed.
bool is_sweep(const RunOptions& options);
int run_sweep(const RunOptions& options);

}  // namespace hbmscope::cli
