#include "analysis/query/pending_requests.h"

#include "analysis/trace/unanswered_refusals.h"

namespace hbmscope {
namespace {

// True if the file was read to the end that its writer intended.
bool is_finished(const Trace& trace) {
  return trace.file_bytes > 0 && trace.import.count_of("not_finished") == 0 &&
         trace.import.count_of("stopped_here") == 0;
}

}  // namespace

std::vector<FailureRow> compute_pending_rows(const Trace& trace) {
  std::vector<FailureRow> rows;
  if (trace.origin != TraceOrigin::recording) return rows;
  for (const Stream& stream : trace.streams) {
    StreamState state;
    for (const std::size_t index : find_unanswered_refusals(stream, Answer::retry)) {
      const FailureEvent& one = stream.failures()[index];
      if (one.is_out_of_memory) continue;
      state = stream.state_at(one.event);
      rows.push_back(row_from_failure(stream, one, &state));
      rows.back().is_pending = !is_finished(trace);
    }
  }
  return rows;
}

}  // namespace hbmscope
