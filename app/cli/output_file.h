// Where a command writes to.
#pragma once

#include <string>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// Error: the output is one of the files that are read, or lies in a folder of them under one of their names; writing it
// would be the end of it. An output that is not there yet, or empty (standard output), is none of them.
Result<void> check_output(const std::vector<std::string>& inputs, const std::string& output);

// "BEGIN.hbm", or "BEGIN-2.hbm" and so on: a name that nothing has yet, so that the recording of before stays.
std::string new_recording(const std::string& begin);

}  // namespace hbmscope::cli
