// The output file of a command.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope::cli {

// Error: the output is one of the inputs, or has the name of a file in an input folder, so that writing would destroy
// it. Any other output is fine, including an empty name (standard output).
Result<void> check_output(const std::vector<std::string>& inputs, const std::string& output);

// Writes the bytes to the file. Error: the system's, such as a full disk.
Result<void> write_output(const std::string& file, std::string_view bytes);

// "BEGIN.hbm", "BEGIN-2.hbm", ...: a name that is not used yet, so that earlier recordings are kept. A long BEGIN is
// cut off.
std::string new_recording(const std::string& begin);

// The same path from the root, for a process that changes its working folder; unchanged if that folder was removed.
std::string path_from_root(const std::string& path);

}  // namespace hbmscope::cli
