// The verdict of a run on emulated devices, as a document: what `run --emulate` prints, and what its recording keeps.
#pragma once

#include <string>

#include "analysis/document/document.h"
#include "analysis/judge/dry_run.h"

namespace hbmscope {

Document describe_dry_run(const DryRun& run);

// Of the recording of a dry run, with the key "dry_run"; without parts if the trace is none.
Document describe_recorded_verdict(const Trace& trace);
// Its first line, with the device if there are several: "Dry run (GPU 5, the fullest of 8): fits: ..."; empty: none.
std::string headline_of_verdict(const Trace& trace);

}  // namespace hbmscope
