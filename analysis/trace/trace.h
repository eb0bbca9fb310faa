// A set of streams, one per process and source, each ordered by its own sequence with its own clock. Snapshots,
// recordings and running jobs are all traces.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

// Where a trace comes from, if that changes what can be said about it.
enum class TraceOrigin : std::uint8_t {
  history,    // What happened in a job, or what it held at one time.
  texts,      // A job's output: failures without a past.
  program,    // The dump of a compiled program, which may never have run.
  recording,  // A history that has its caveats as facts of its streams.
};

struct Trace {
  std::vector<std::string> files;  // As the user named them.
  std::string format;              // "torch", "recording", "rmm": the file format.
  std::string producer;            // "PyTorch memory snapshot": the display name.
  // Functions whose frames, and the frames that they call, belong to the recorder or the allocator: pprof's
  // drop_frames.
  std::string drop_frames;
  std::uint64_t file_bytes = 0;
  std::uint64_t begun_ms = 0;  // When recording began, in milliseconds since 1970, or 0 if that is unknown.
  std::vector<Stream> streams;
  ImportStatistics import;
  // By stream: its file, as in `files`. Empty if all come from one file (join_traces.h).
  std::vector<std::string> stream_files;
  // By stream: the number of its process (same_process.h). Empty: the streams' own facts identify it.
  std::vector<std::uint32_t> stream_processes = {};
  TraceOrigin origin = TraceOrigin::history;
};

// A stream keeps only curves, and they can't be computed (Stream::needs_everything).
bool needs_everything(const Trace& trace);

// Adds the problems of the streams to the import statistics; call once, after the last block.
void add_problem_statistics(Trace& trace);

}  // namespace hbmscope
