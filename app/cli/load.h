// Files as named on the command line to profiles and traces: folders become the profiles in them, several are read one
// after the other with progress, and can be merged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/query/profile_view.h"
#include "analysis/read/source/read_source.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

// Folders are replaced by the files in them that look like profiles or traces (read/profile_folder.h), ordered by name
// with numbers as numbers: step_9 before step_10. Errors: a folder without any.
Result<std::vector<std::string>> expand_files(const std::vector<std::string>& names);

// How files are read: at most this many bytes, traces at a time and with these values.
struct LoadOptions {
  std::string max_size = "4GiB";
  std::string at;                      // Empty: the end.
  std::string value_type;              // "allocated...": a pass over the trace finds what was ever allocated.
  std::vector<std::string> what_if{};  // KEY=VALUE, of TPU workloads.
};
LoadOptions load_options(const ViewOptions& view);

Result<std::vector<Source>> load_sources(const std::vector<std::string>& names, const LoadOptions& options);

// If the file is a trace, what a series of them needs (read_curves); null: it is not.
Result<std::shared_ptr<const Trace>> load_curves(const std::string& file, const LoadOptions& options);

// All files as one source: one file as it is; several traces as one, the ranks of a job, at one time; profiles, or
// both, as one profile.
Result<Source> load_merged(const std::vector<std::string>& names, const LoadOptions& options);

// The same trace at another time.
Result<Source> load_again(const Source& source, const LoadOptions& options);

// The exit code of an Error: wrong options are usage, all else is unreadable input.
int exit_code_of(const Error& error);
// Prints it to stderr and returns that code: how a command ends that can't go on.
int fail(const Error& error);

}  // namespace hbmscope::cli
