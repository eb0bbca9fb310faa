// The profiles of a folder: all ranks of a job, or a series over its steps. The commands and the window ask here, so
// that both see the same files in the same order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"

namespace hbmscope {

// Whether a file is taken from a folder, by its ending (Format::endings), or by the time at its end, as memory dumps of
// BFC allocators have it (bfc/dump_attempts.h).
bool looks_like_profile(std::string_view name);
// The same of the output of a job, by its ending: .log .out .err, and .txt if the folder has nothing else.
bool looks_like_log(std::string_view name);

struct FolderProfiles {
  std::vector<std::string> files;  // Ordered by name, with numbers as numbers: step_9 before step_10.
  std::string left_out;            // Which dumps of XLA were left out (DumpFolder::text), if any.
};
// There is one file for all dumps of a program. Errors: a folder that can't be read, or that has no profiles.
Result<FolderProfiles> find_profiles_in_folder(const std::string& folder);

}  // namespace hbmscope
