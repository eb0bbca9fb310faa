// Converts a reader's trace to file content, for all formats.
#pragma once

#include <utility>

#include "analysis/read/format.h"
#include "analysis/read/gzip.h"
#include "analysis/trace/trace.h"

namespace hbmscope {

inline Result<FileContent> content_from_trace(Result<Trace> trace) {
  if (!trace) return Failure(std::move(trace.error()));
  add_problem_statistics(*trace);
  FileContent content;
  content.trace = std::make_shared<Trace>(std::move(*trace));
  return content;
}

// For texts and messages, bare or gzipped: read(bytes) returns the trace.
template <class Read>
Result<FileContent> read_unzipped(InputFile& file, const FileOptions& options, const Read& read) {
  const auto bytes = file.bytes();
  if (!bytes) return Failure(bytes.error());
  ImportStatistics import;
  const auto text = unzip(*bytes, file.name(), options.max_inflated_bytes, import);
  if (!text) return Failure(text.error());
  Result<Trace> trace = read(text->bytes);
  if (!trace) return Failure(text->reported(std::move(trace.error())));
  if (text->is_inflated) {
    trace->file_bytes = bytes->size();
    for (const ImportStatistic& row : import.rows())
      trace->import.add(row.name, row.severity, row.count, row.remedy, row.example);
  }
  return content_from_trace(std::move(trace));
}

}  // namespace hbmscope
