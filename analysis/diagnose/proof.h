// Advice that a replay of the job's own requests has proved, in place of advice that follows from a rule.
//
// A job dies with 12 GiB under fraction .75. Its requests up to the failure are played again, under .76, .77, ...: with
// .79 all of them are served, so that is what to set. Settings that serve them come first, the cheapest first of all;
// those under which the replay still fails come last, and say so. This needs a source with the job's requests (a
// recording, a snapshot with history), which itself replays address for address and fails at the same request; without
// that nothing is claimed.
#pragma once

#include "analysis/diagnose/diagnosis.h"
#include "analysis/trace/pass_control.h"

namespace hbmscope {

// Replaces, adds and sorts advice. For a failure that is the first of its stream's device; others stay as they are.
void prove_advice(const Trace& trace, Diagnosis& diagnosis, PassControl& control);

}  // namespace hbmscope
