// A file format is one row: what it is called, how it is recognised, who reads it, and what to say to a person whose
// file is not quite it. Each format defines its row in its own folder; source/formats.cpp lists all of them, and the
// choice of a reader, folder walks, help and error texts follow from that list.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/result.h"
#include "analysis/read/input_file.h"
#include "analysis/read/read_control.h"
#include "analysis/read/workload_change.h"

namespace hbmscope {

struct OpenedWorkload;
struct Profile;
struct Trace;

struct FileOptions {
  std::uint64_t max_inflated_bytes = std::uint64_t{4} << 30;
  std::vector<WorkloadChange> what_if;  // Of a workload file; of another one it is an error.
};

// What a reader makes of a file: a trace or a profile. A workload file becomes the trace of its emulation, and the
// workload.
struct FileContent {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const OpenedWorkload> workload;
};

using ReadContent = Result<FileContent> (*)(InputFile& file, const FileOptions& options, ReadControl* control);

struct Format {
  std::string_view name = {};           // "an RMM log", as in lists and in "this is not an RMM log".
  std::string_view endings = {};        // ".pickle .pkl": what folders are searched for, each also with .gz.
  std::string_view other_endings = {};  // ".csv": may be anything, and is opened where it is named itself.
  bool (*looks_like)(InputFile& file) = nullptr;
  ReadContent read = nullptr;
  // Definitions, counts, peaks and curves of bytes in use alone, where these are had in less time; null: as `read`.
  ReadContent read_curves = nullptr;
  std::string_view beginning = {};  // "one begins with the letters \"hbmscope\"", for files of that ending that do not.
  std::string_view hint = {};       // How to get such a file.
  bool is_workload = false;         // Takes FileOptions::what_if.
};

}  // namespace hbmscope
