// Where a command writes to.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// Error: the output is one of the inputs, or has the name of one in a folder of inputs; writing it would destroy it. An
// output that does not exist yet, or is empty (standard output), is fine.
Result<void> check_output(const std::vector<std::string>& inputs, const std::string& output);

// "BEGIN.hbm", or "BEGIN-2.hbm" and so on: a name that nothing has yet, so that the recording of before stays.
std::string new_recording(const std::string& begin);

}  // namespace hbmscope::cli
