// hbmscope run --emulate a100-40,h100 --sweep batch=4,8,16 -- python train.py --batch {batch}: the same job on several
// devices and with several values, side by side, as one table.
#pragma once

namespace hbmscope::cli {

struct RunOptions;

// All devices ("a100-40,h100:8") times all values. Prints the table, or JSON, and returns 0 if every run ended with a
// verdict, whatever it is. Errors are printed.
bool is_sweep(const RunOptions& options);
int run_sweep(const RunOptions& options);

}  // namespace hbmscope::cli
