#include "analysis/query/pending_requests.h"

#include <algorithm>

#include "collector/wire/block_decoder.h"

namespace hbmscope {
namespace {

class Pending {
 public:
  explicit Pending(const Stream& stream) {
    const SharedLog<FailureEvent>& failures = stream.failures();
    for (std::size_t i = failures.size(); i-- > 0;) {
      const FailureEvent& one = failures[i];
      // A file may contain any time.
      const std::uint64_t age_ns =
          static_cast<std::uint64_t>(stream.last_time_ns()) - static_cast<std::uint64_t>(one.time_ns);
      const bool is_over = one.is_out_of_memory || (one.time_ns < stream.last_time_ns() &&
                                                    age_ns >= static_cast<std::uint64_t>(retry_patience_ns));
      if (is_over) break;  // An out-of-memory is the outcome of the earlier refusals.
      const bool is_later = std::any_of(refused_.begin(), refused_.end(),
                                        [&](const FailureEvent& later) { return later.heap == one.heap; });
      if (!is_later) refused_.push_back(one);
    }
    std::reverse(refused_.begin(), refused_.end());
  }

  void look_for_answers(const Stream& stream) {
    wire::BlockDecoder decoder;
    wire::DecodedBlock decoded;
    for (const wire::SharedBlock& block : stream.blocks()) {
      if (refused_.empty()) return;
      if (block->end_event() <= refused_.front().event || decoder.decode(*block, decoded)) continue;
      std::uint64_t event = block->header.first_event, allocs = 0, handles = 0;
      for (const std::uint8_t kind : decoded.kinds()) {
        if (kind == static_cast<std::uint8_t>(wire::RecordKind::alloc))
          note_taken(decoded.rows<wire::AllocRecord>()[allocs++], event);
        if (kind == static_cast<std::uint8_t>(wire::RecordKind::physical_create)) {
          const wire::PhysicalCreateRecord& created = decoded.rows<wire::PhysicalCreateRecord>()[handles++];
          if (created.handle < wire::graph_handles) note_taken(created, event);
        }
        if (wire::is_event(kind)) ++event;
      }
    }
  }

  const std::vector<FailureEvent>& refused() const { return refused_; }

 private:
  template <class Record>
  void note_taken(const Record& taken, std::uint64_t event) {
    std::erase_if(refused_, [&](const FailureEvent& one) {
      return event > one.event && (one.heap == 0 || one.heap == taken.heap) && taken.size >= one.requested_bytes / 2;
    });
  }

  std::vector<FailureEvent> refused_;  // In order of time.
};

// True if the file was read to the end that its writer intended.
bool is_finished(const Trace& trace) {
  return trace.file_bytes > 0 && trace.import.count_of("not_finished") == 0 &&
         trace.import.count_of("stopped_here") == 0;
}

}  // namespace

std::vector<FailureRow> compute_pending_rows(const Trace& trace) {
  std::vector<FailureRow> rows;
  if (trace.format != "recording") return rows;
  for (const Stream& stream : trace.streams) {
    Pending pending(stream);
    pending.look_for_answers(stream);
    StreamState state;
    for (const FailureEvent& one : pending.refused()) {
      state = stream.state_at(one.event);
      rows.push_back(row_from_failure(stream, one, &state));
      rows.back().is_pending = !is_finished(trace);
    }
  }
  return rows;
}

}  // namespace hbmscope
