// Loads the files named on the command line as profiles and traces. Folders are replaced by the profiles in them.
// Several files are read one after the other, with progress, and can be merged.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/query/profile_view.h"
#include "analysis/query/program_memory.h"
#include "analysis/read/source/read_source.h"
#include "analysis/read/source/skipped_files.h"
#include "app/cli/options.h"

namespace hbmscope::cli {

struct NamedFile {
  std::string path;
  bool is_of_folder = false;  // If it is of another format, it is skipped (read/source/skipped_files.h).
};

// Replaces folders by the files in them that look like profiles or traces (read/profile_folder.h), ordered by name with
// numbers compared as numbers: step_9 before step_10. Of the dumps that XLA wrote of one program there is one file;
// stderr says which are left out. Errors: a folder without such files.
Result<std::vector<NamedFile>> expand_files(const std::vector<std::string>& names);

// Whether a file that failed may be left out; it is noted then.
bool is_skipped(const NamedFile& file, const Error& error, SkippedFiles& skipped);
// One line on stderr, if there are any.
void print_skipped(const SkippedFiles& skipped);

// How files are read: the size limit, the time of traces, the values.
struct LoadOptions {
  std::string max_size = "4GiB";
  std::string at = {};  // Empty: the end.
  // "allocated...": a pass over the trace adds up everything that was ever allocated.
  std::string value_type = {};
  std::vector<std::string> what_if = {};  // KEY=VALUE, for TPU workloads.
  bool chooses_time = false;              // Without `at`: see SourceOptions.
  // Of several files those that can't be read are noted here, and the others are read; if there are none, the last one
  // is the error. Null: the first one is.
  std::vector<Error>* unread = nullptr;
};

// Of a time that was not asked for, and is not the end: on stderr.
void say_chosen_time(const Source& source, const LoadOptions& options);
LoadOptions load_options(const ViewOptions& view);
// For reading one file at a time. Errors: a size or a change that is not understood.
Result<SourceOptions> source_options(const LoadOptions& wanted);

Result<std::vector<Source>> load_sources(const std::vector<std::string>& names, const LoadOptions& options);

// If the file is a trace, the data that a series needs (read_curves). Null if it is not a trace.
Result<std::shared_ptr<const Trace>> load_curves(const std::string& file, const LoadOptions& options);

// All files as one source: a single file unchanged; several traces as the ranks of one job, at one time; profiles, or a
// mixture, as one profile. The compiled programs of a folder don't run at the same time: the one that needs the most
// memory is the source, and `programs`, unless it is null, gets all of them, the largest first. Without `programs`
// stderr says which one was taken.
Result<Source> load_merged(const std::vector<std::string>& names, const LoadOptions& options,
                           std::vector<NamedProgram>* programs = nullptr);

// The same trace at another time.
Result<Source> load_again(const Source& source, const LoadOptions& options);

// The exit code of an Error: invalid options are usage errors, everything else is unreadable input.
int exit_code_of(const Error& error);
// Prints the error to stderr and returns its exit code.
int fail(const Error& error);

}  // namespace hbmscope::cli
