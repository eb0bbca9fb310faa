// Everything live or saved: a set of streams, one per process and source, each ordered by its own sequence with its own
// clock. A snapshot, a recording and a running job are the same thing here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/model/import_statistics.h"
#include "analysis/trace/stream.h"

namespace hbmscope {

struct Trace {
  std::vector<std::string> files;  // As the person named them.
  std::string format;              // "torch", "recording", "rmm": what the file is.
  std::string producer;            // "PyTorch memory snapshot": what a person calls it.
  // Functions whose frames, and those below them, are the recorder's own and the allocator's: pprof's drop_frames.
  std::string drop_frames;
  std::uint64_t file_bytes = 0;
  std::uint64_t begun_ms = 0;  // When recording began, in milliseconds since 1970; 0: the file does not say.
  std::vector<Stream> streams;
  ImportStatistics import;
  // By stream: the file that it is from, as in `files`. Empty where all are from one (join_traces.h).
  std::vector<std::string> stream_files;
};

// A stream of it keeps curves only, and they can't be had (Stream::needs_everything).
bool needs_everything(const Trace& trace);

// What the streams met, as rows of the import statistics; called once, when all blocks are in.
void add_problem_statistics(Trace& trace);

}  // namespace hbmscope
