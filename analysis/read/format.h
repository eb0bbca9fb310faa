// A file format is one row: its name, how it is recognised, its reader, and what to say about files that are almost of
// this format. Each format defines its row in its own folder. source/formats.cpp lists all of them; the choice of a
// reader, folder walks, help and error texts follow from that list.
#pragma once

#include <cstddef>
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
  std::vector<WorkloadChange> what_if;  // Only for workload files; an error for others.
  bool is_timed = false;                // Events of a workload have modelled times.
  bool keeps_pieces = false;            // Fill in FileContent::piece: more files are read, which may belong together.
};

struct Format;

// What a format keeps of a file to find out which files are parts of one, and to join them (Format::join).
struct FilePiece {
  explicit FilePiece(const Format& format) : format(&format) {}
  FilePiece(const FilePiece&) = delete;
  FilePiece& operator=(const FilePiece&) = delete;
  virtual ~FilePiece() = default;

  const Format* format;
};

// What a reader makes of a file: a trace or a profile. A workload file becomes the trace of its emulation, and the
// workload. Nothing: it turned out that the file is not of this format.
// Whoever opened the file may still add to the import statistics, so neither may be an object that is const itself.
struct FileContent {
  std::shared_ptr<const Trace> trace;
  std::shared_ptr<const Profile> profile;
  std::shared_ptr<const OpenedWorkload> workload;
  std::shared_ptr<const FilePiece> piece;  // Null unless FileOptions::keeps_pieces, and for most formats.
};

// What files become when those that belong together are joined.
struct JoinedContent : FileContent {
  std::vector<std::size_t> files;  // Its files, as ascending indices into what was joined.
};

using ReadContent = Result<FileContent> (*)(InputFile& file, const FileOptions& options, ReadControl* control);

struct Format {
  std::string_view name = {};           // "an RMM log", as used in lists and in "this is not an RMM log".
  std::string_view endings = {};        // ".pickle .pkl": what folder walks look for, each also with .gz.
  std::string_view other_endings = {};  // ".csv": could be anything, so it is opened only when named directly.
  bool (*looks_like)(InputFile& file) = nullptr;
  ReadContent read = nullptr;
  // Reads only definitions, counts, peaks and curves of bytes in use, where that is faster. Formats without it use
  // `read`.
  ReadContent read_curves = nullptr;
  // Joins files of this format that belong together, such as the history of one process that was saved in pieces. All
  // have a piece. Returns what they make, in the order of their first files; files that belong to no other are as they
  // were. Null: files of this format are never parts of one.
  std::vector<JoinedContent> (*join)(std::vector<FileContent> files) = nullptr;
  std::string_view beginning = {};  // "one begins with the letters \"hbmscope\"", for files with this ending.
  std::string_view hint = {};       // How to get such a file.
  bool is_workload = false;         // Takes FileOptions::what_if.
  bool is_any_text = false;         // Only its reader finds out whether a text is of this format.
};

}  // namespace hbmscope
