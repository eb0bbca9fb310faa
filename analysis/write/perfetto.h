// A trace for ui.perfetto.dev and chrome://tracing, as JSON: counter tracks of each heap's bytes in use and pool size
// and of the source's own counters, instants for failures and marks, and ranges for marks that begin and end.
//
// A counter point is written when it differs from the last written one by at least a step; smaller changes are merged
// into the next point. The shown figures are therefore off by at most a step, which the file's metadata states.
//
// Format: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU (Trace Event Format), which
// Perfetto documents as its JSON import. Times are microseconds since the first event of all streams that clock records
// place on one axis (time_axis.h). A stream that they don't place counts from its own first event, and one without
// times uses event numbers; its track name and the metadata say so.
#pragma once

#include "analysis/trace/moment.h"
#include "analysis/trace/pass_control.h"
#include "analysis/trace/stream.h"
#include "analysis/write/text_sink.h"

namespace hbmscope {

struct PerfettoOptions {
  std::uint64_t step_bytes = 0;  // 0: 1/2048 of each heap's peak.
};

// Exports everything up to the states' positions.
ExportEnd write_perfetto(const Trace& trace, const std::vector<StreamState>& states, const PerfettoOptions& options,
                         const TextSink& sink, PassControl* control = nullptr);

}  // namespace hbmscope
