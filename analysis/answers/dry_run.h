// The verdict of a run on emulated devices, as a document: what `run --emulate` prints, and what its recording keeps.
#pragma once

#include <string>

#include "analysis/document/document.h"
#include "analysis/judge/dry_run.h"

namespace hbmscope {

Document describe_dry_run(const DryRun& run);

// Of the recording of a dry run, with the key "dry_run"; without parts if the trace is none.
Document describe_recorded_verdict(const Trace& trace);
// Its first line: "out of memory: no room for 4.00 GiB (step, train.py:12)"; empty: there is none.
std::string headline_of_verdict(const Trace& trace);

}  // namespace hbmscope
