// The part of a comparison that only traces have (analysis/answers/diff.h).
#pragma once

#include <optional>
#include <string>

#include "analysis/answers/diff.h"
#include "analysis/query/moment_comparison.h"
#include "analysis/read/source/read_source.h"
#include "app/cli/load.h"

namespace hbmscope::cli {

// The heap named by --heap; if `name` is empty, the most relevant one; empty if there is none. Errors: a profile has no
// heaps, or there is no heap with that name.
Result<HeapKey> find_compared_heap(const Source& source, const std::string& name);

// A side at the same time, or after the same number of requests, as the other side (--same). Errors: it is not a trace,
// or it has no heap.
Result<Source> load_at_same(const Source& side, const Source& leads, HeapKey heap, SameMoment same,
                            LoadOptions options);

// Nothing if a side is a profile. `heap` belongs to `now`. The sources must outlive the result.
std::optional<TraceDiff> compute_trace_diff(const Source& baseline, const Source& now, HeapKey heap);

}  // namespace hbmscope::cli
