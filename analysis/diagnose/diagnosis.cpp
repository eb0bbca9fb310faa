#include "analysis/diagnose/diagnosis.h"

#include "analysis/trace/layers.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

std::vector<FailedRequest> find_failed_requests(const Trace& trace) {
  std::vector<FailedRequest> found;
  for (std::size_t stream = 0; stream < trace.streams.size(); ++stream) {
    const auto& failures = trace.streams[stream].failures();
    for (std::size_t i = 0; i < failures.size(); ++i)
      if (failures[i].is_out_of_memory && !is_of_extra_pool(trace.streams[stream], failures[i]))
        found.push_back({stream, i});
  }
  return found;
}

Diagnosis diagnose(const Trace& trace, const FailedRequest& request) {
  const Stream& stream = trace.streams[request.stream];
  const FailureEvent& failure = stream.failures()[request.index];
  // Of the other streams only their ends are of use: for what they know of the same memory.
  std::vector<StreamState> states;
  for (std::size_t i = 0; i < trace.streams.size(); ++i)
    states.push_back(trace.streams[i].state_at(i == request.stream ? failure.event : trace.streams[i].end_position()));
  Diagnosis found;
  found.stream = request.stream;
  found.index = request.index;
  found.row = row_from_failure(stream, failure, &states[request.stream]);
  found.facts = compute_failure_facts(stream, request.index);
  found.cause = find_cause(trace, request.stream, found.row, found.facts);
  found.holders = find_holders(trace, states, {static_cast<std::uint32_t>(request.stream), failure.heap});
  found.advice = find_advice(trace, request.stream, found.cause, found.row, found.facts, found.holders);
  return found;
}

}  // namespace hbmscope
