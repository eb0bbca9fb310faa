#include "analysis/diagnose/diagnosis.h"

#include "analysis/diagnose/proof.h"

namespace hbmscope {

Diagnosis diagnose(const Trace& trace, const FailedRequest& request, Depth depth, PassControl* control) {
  const Stream& stream = trace.streams[request.stream];
  const FailureEvent& failure = stream.failures()[request.index];
  Diagnosis found;
  found.stream = request.stream;
  found.index = request.index;
  const auto describe = [&](const StreamState& state) {
    found.row = row_from_failure(stream, failure, &state);
    found.facts = compute_failure_facts(stream, request.index, state);
    found.cause = find_cause(trace, request.stream, found.row, found.facts);
  };
  if (depth == Depth::full) {
    const auto states = compute_states(trace, *find_moment(trace, request.stream, failure.event));
    describe(states[request.stream]);
    found.holders = find_holders(trace, states, {static_cast<std::uint32_t>(request.stream), failure.heap});
  } else {
    describe(stream.state_at(failure.event));
  }
  found.advice = find_advice(trace, request.stream, found.cause, found.row, found.facts, found.holders);
  PassControl own_control;
  if (depth == Depth::full) prove_advice(trace, found, control != nullptr ? *control : own_control);
  return found;
}

}  // namespace hbmscope
