// Builds a trace of one stream, for the readers of other programs' files: they write events, and this adds what all of
// them have in common.
#pragma once

#include <cstdint>
#include <string>

#include "analysis/trace/trace.h"
#include "collector/wire/stream_writer.h"

namespace hbmscope {

class TraceWriter {
 public:
  struct Source {
    std::string file;       // As the user named it.
    std::string format;     // "torch"
    std::string producer;   // "PyTorch memory snapshot"; also the job fact hbmscope.source.
    std::string framework;  // "pytorch": the job fact of that name.
    std::uint64_t file_bytes = 0;
    TraceOrigin origin = TraceOrigin::history;
  };
  explicit TraceWriter(const Source& source);
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  wire::StreamWriter& events() { return writer_; }
  Trace& trace() { return trace_; }
  const Stream& stream() const { return trace_.streams.front(); }

  // The time of day at an instant of the stream's clock. Ignores dates before 2001: such a file does not count from
  // 1970.
  void note_realtime(std::int64_t time_ns, std::int64_t realtime_ns);
  // Seals the stream and adds its counts to the import statistics.
  void close();

 private:
  Trace trace_;
  wire::StreamWriter writer_;
};

}  // namespace hbmscope
