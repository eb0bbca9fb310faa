// Files as named on the command line to profiles: folders become the profiles in them, several are read one after the
// other with progress, and can be merged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/query/profile_view.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

// Folders are replaced by the files in them that look like profiles (*.prof, *.pprof, *.pb, each also .gz), ordered by
// name with numbers as numbers: step_9 before step_10. Errors: a folder without any.
Result<std::vector<std::string>> expand_files(const std::vector<std::string>& names);

Result<std::vector<std::shared_ptr<const Profile>>> load_profiles(const std::vector<std::string>& names,
                                                                  const std::string& max_size);

// One profile of all files.
Result<std::shared_ptr<const Profile>> load_merged(const std::vector<std::string>& names, const std::string& max_size);

// The exit code of an Error: wrong options are usage, all else is unreadable input.
int exit_code_of(const Error& error);
// Prints it to stderr and returns that code: how a command ends that can't go on.
int fail(const Error& error);

}  // namespace hbmscope::cli
