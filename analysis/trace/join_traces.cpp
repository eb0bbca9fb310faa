#include "analysis/trace/join_traces.h"

#include <set>
#include <string>

#include "analysis/model/clamped.h"
#include "analysis/trace/common_zero.h"
#include "analysis/trace/same_process.h"

namespace hbmscope {
namespace {

// The value that all share, or `several`.
std::string common_of(const std::set<std::string>& values, const char* several) {
  return values.size() == 1 ? *values.begin() : several;
}

}  // namespace

Trace join_traces(std::span<const std::shared_ptr<const Trace>> traces) {
  Trace joined;
  std::set<std::string> formats, producers;
  std::set<TraceOrigin> origins;
  for (const auto& trace : traces) {
    joined.files.insert(joined.files.end(), trace->files.begin(), trace->files.end());
    formats.insert(trace->format);
    origins.insert(trace->origin);
    producers.insert(trace->producer);
    // A regular expression that matches whatever any of them drops.
    if (!trace->drop_frames.empty() && joined.drop_frames.find(trace->drop_frames) == std::string::npos)
      joined.drop_frames += (joined.drop_frames.empty() ? "" : "|") + trace->drop_frames;
    joined.file_bytes = clamped_sum(joined.file_bytes, trace->file_bytes);
    if (trace->begun_ms != 0 && (joined.begun_ms == 0 || trace->begun_ms < joined.begun_ms))
      joined.begun_ms = trace->begun_ms;
    for (const Stream& stream : trace->streams) {
      joined.streams.push_back(stream.version());
      joined.stream_files.push_back(trace->files.front());
    }
    for (const ImportStatistic& row : trace->import.rows())
      joined.import.add(row.name, row.severity, row.count, row.remedy,
                        row.example.empty() ? "" : trace->files.front() + ": " + row.example);
  }
  joined.format = common_of(formats, "several");
  if (origins.size() == 1) joined.origin = *origins.begin();
  joined.producer = common_of(producers, "Several traces");
  joined.stream_processes = find_processes(joined);
  share_zero(joined);
  return joined;
}

}  // namespace hbmscope
