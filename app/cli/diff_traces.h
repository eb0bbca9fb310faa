// The part of a comparison that only traces have: first the settings that differ, then blocks that were allocated,
// freed, resized or moved.
#pragma once

#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "analysis/diagnose/heap_comparison.h"
#include "analysis/query/block_diff.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/moment_comparison.h"
#include "analysis/read/source/read_source.h"
#include "app/cli/load.h"
#include "app/cli/options.h"
#include "app/cli/terminal.h"

namespace hbmscope::cli {

struct TraceDiff {
  const Source& baseline;
  const Source& now;
  std::vector<SettingChange> settings;
  BlockDiff blocks;
  std::optional<HeapComparison> heaps;  // A is the baseline, B is now.
};

// The heap named by --heap; if `name` is empty, the most relevant one; empty if there is none. Errors: a profile has no
// heaps, or there is no heap with that name.
Result<HeapKey> find_compared_heap(const Source& source, const std::string& name);

// A side at the same time, or after the same number of requests, as the other side (--same). Errors: it is not a trace,
// or it has no heap.
Result<Source> load_at_same(const Source& side, const Source& leads, HeapKey heap, SameMoment same,
                            LoadOptions options);

// Nothing if a side is a profile. `heap` belongs to `now`. The sources must outlive the result.
std::optional<TraceDiff> compute_trace_diff(const Source& baseline, const Source& now, HeapKey heap);

std::string text_before_diff(const TraceDiff& diff, const Terminal& terminal);  // Times and settings.
std::string text_from_heaps(const TraceDiff& diff, const Terminal& terminal);   // Figures and sentences.
std::string text_from_blocks(const TraceDiff& diff, const DiffOptions& options, const Terminal& terminal);

// The comparison of profiles combined with that of their traces; settings come before all figures.
nlohmann::ordered_json json_with_traces(const nlohmann::ordered_json& profiles, const TraceDiff& diff,
                                        std::size_t limit);

}  // namespace hbmscope::cli
