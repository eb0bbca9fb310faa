// The one way to open a file: its content decides which format reads it (formats.h). A pprof profile becomes a profile.
// Whatever has events or addresses becomes a trace, together with the profile at one time of it, so that questions
// about stacks work on both.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/profile_from_trace.h"

namespace hbmscope {

struct SourceOptions : FileOptions {
  std::string at;  // A time of the trace (analysis/trace/moment.h). If it is empty, its end.
  // Without a time: that of the first out-of-memory of a trace, if there is one, or else a dry run's peak, as it ends
  // with nothing in use. Heaps of a log have no past.
  bool chooses_time = false;
  ProfileValues values = ProfileValues::live;  // What the profile of a trace counts.
};

// A file's content at one time. `profile` is always there: for a trace it holds what is live at `moment`.
struct Source : FileContent {
  Moment moment;                    // Only for a trace.
  std::vector<StreamState> states;  // One per stream, at `moment`.
};

// The same trace at another time, or with other values. Errors: a time that the trace does not have.
Result<Source> source_at(std::shared_ptr<const Trace> trace, const SourceOptions& options);

// The emulation of a workload.
Result<Source> source_of(std::shared_ptr<const OpenedWorkload> workload, const SourceOptions& options);

// "-" is standard input. Errors: those of the readers; a time that the file does not have.
Result<Source> read_source(const std::string& file, const SourceOptions& options, ReadControl* control = nullptr);

// The same of a text that is no file, such as one from the clipboard. `name` is for messages.
Result<Source> read_text_source(const std::string& text, const std::string& name, ReadControl* control = nullptr);

struct JoinedSource {
  Source source;
  std::vector<std::size_t> files;  // Its files, as ascending indices into what was joined. One: it was not joined.
};
// Joins sources that are parts of one (Format::join), read with SourceOptions::keeps_pieces; the others stay as they
// are, and the order is that of the first files. Errors: a time that a joined trace does not have.
Result<std::vector<JoinedSource>> join_pieces(std::vector<Source> sources, const SourceOptions& options);

// Several files as one trace: their traces, and the arrays of JAX's device memory profiles beside them
// (trace/trace_from_profile.h). Null: none of them is a trace, or one is a profile of another kind.
std::shared_ptr<const Trace> join_sources(std::span<const Source> sources);

// Only a trace's definitions, counts, peaks and curves of bytes in use, for views of many files (Format::read_curves).
// Null: the file is not a trace.
Result<std::shared_ptr<const Trace>> read_curves(const std::string& file, const SourceOptions& options,
                                                 ReadControl* control = nullptr);

}  // namespace hbmscope
