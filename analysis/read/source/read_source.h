// One door for every file: its content decides which format reads it (formats.h). A pprof profile comes back as a
// profile; what has events or addresses as a trace, with the profile of a moment beside it, so that every question
// about stacks can be asked of both.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/model/profile.h"
#include "analysis/model/result.h"
#include "analysis/read/format.h"
#include "analysis/trace/moment.h"
#include "analysis/trace/profile_from_trace.h"

namespace hbmscope {

struct SourceOptions : FileOptions {
  std::string at;                              // The moment of a trace (analysis/trace/moment.h); empty: its end.
  ProfileValues values = ProfileValues::live;  // Of a trace's profile.
};

struct Source {
  std::shared_ptr<const Profile> profile;  // Of a trace: what lives at the moment.
  std::shared_ptr<const Trace> trace;      // Null for pprof.
  Moment moment;
  std::vector<StreamState> states;                 // Then, one a stream.
  std::shared_ptr<const OpenedWorkload> workload;  // Of a workload file, whose emulation `trace` is; null: it is none.
};

// Another moment, or other values, of a trace that was read. Errors: a moment that it does not have.
Result<Source> source_at(std::shared_ptr<const Trace> trace, const SourceOptions& options);

// The emulation of a workload.
Result<Source> source_of(std::shared_ptr<const OpenedWorkload> workload, const SourceOptions& options);

// "-" is standard input. Errors: those of the readers; a moment that the file does not have.
Result<Source> read_source(const std::string& file, const SourceOptions& options, ReadControl* control = nullptr);

// Of a trace its definitions, counts, peaks and curves of bytes in use, for who looks at many files
// (Format::read_curves). Null: the file is no trace.
Result<std::shared_ptr<const Trace>> read_curves(const std::string& file, const SourceOptions& options,
                                                 ReadControl* control = nullptr);

}  // namespace hbmscope
