// The types of the answers in struct Answers (answer.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/answers/diff.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/diagnose/heap_comparison.h"
#include "analysis/diagnose/pool_costs.h"
#include "analysis/document/document.h"
#include "analysis/query/bfc_bins.h"
#include "analysis/query/block_diff.h"
#include "analysis/query/call_tree.h"
#include "analysis/query/diff.h"
#include "analysis/query/driver_pools.h"
#include "analysis/query/failure_facts.h"
#include "analysis/query/flame.h"
#include "analysis/query/free_blocks.h"
#include "analysis/query/heap_metrics.h"
#include "analysis/query/job_facts.h"
#include "analysis/query/label_rows.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/range_summary.h"
#include "analysis/query/summary.h"
#include "analysis/query/top.h"
#include "analysis/query/user_code.h"
#include "analysis/read/log/log_excerpt.h"
#include "analysis/whatif/what_if.h"
#include "app/gui/core/address_time.h"
#include "app/gui/core/answer.h"
#include "app/gui/core/block_answers.h"
#include "app/gui/core/event_table.h"
#include "app/gui/core/filter_values.h"
#include "app/gui/core/frame_detail.h"
#include "app/gui/core/frame_key.h"
#include "app/gui/core/heap_spans.h"
#include "app/gui/core/source_listing.h"
#include "app/gui/core/stack_blocks.h"
#include "app/gui/core/stack_course.h"
#include "app/gui/core/timeline_columns.h"
#include "app/gui/core/trace_colors.h"
#include "app/gui/core/trace_steps.h"
#include "app/gui/sources/trace_moment.h"

namespace hbmscope::gui {

// Rows and trees refer to frames by number, so each carries the view that defines those numbers.
struct TopAnswer {
  std::shared_ptr<const ProfileView> view;
  std::shared_ptr<const std::vector<TopRow>> rows;
  Table table;  // The rows as they are shown.
};
struct SummaryAnswer {
  ProfileSummary summary;
  std::vector<UserCodeRow> user_code;  // By the code that allocated it, largest first.
  // For a trace; empty if the job did not say.
  std::vector<CategoryRow> categories;
  std::vector<HolderRow> names;            // By what holds it; empty if the job did not say.
  std::shared_ptr<const Document> tables;  // What holds the memory.
};
struct TreeAnswer {
  std::shared_ptr<const ProfileView> view;
  CallTree tree;
  bool folded = false;
};
struct FlameAnswer {
  std::shared_ptr<const ProfileView> view;
  CallTree tree;
  FlameLayout layout;
  // By node: what the baseline, or the pinned time, has of the same path. Empty: nothing is compared.
  std::vector<Weight> before;
};
struct SearchAnswer {
  std::shared_ptr<const FlameAnswer> flame;  // `search.hit` refers to its nodes.
  std::string text;
  FlameSearch search;
};

struct HeapMapAnswer {
  std::shared_ptr<const TraceMoment> moment;  // The state that `spans` refers to.
  std::shared_ptr<const TraceMoment> pinned;  // For the coloring by change: the start of the comparison.
  HeapKey heap;
  std::shared_ptr<const HeapExtent> extent;  // Of the heap in `moment->trace`.
  HeapSpans spans;
  std::optional<DriverPools> driver_pools;
};

// What the job said of its blocks: names, holders, categories.
struct NamesAnswer {
  std::shared_ptr<const Trace> trace;
  std::vector<BlockLabels> labels;  // By stream.
  bool has_names = false, has_categories = false;
};

struct SeriesAnswer {
  std::vector<SeriesPoint> points;
  SeriesGrowth growth;
};

struct RangeAnswer {
  TimeRange range;  // As selected by the user.
  std::shared_ptr<const Trace> trace;
  Moment from, to;
  bool is_of_all = true;                     // Devices. False: the summary is of the shown heap.
  std::vector<std::int64_t> from_ns, to_ns;  // Per stream: what its state shows.
  RangeSummary summary;
  // The most that a heap had in use in the range, and the position of that; as the summary's heaps.
  struct Most {
    std::uint64_t bytes = 0, position = 0;
  };
  std::vector<Most> most;
  std::optional<std::size_t> shown;  // The index of the shown heap among them.
};

// Free memory at the selected time.
struct FreeAnswer {
  std::shared_ptr<const TraceMoment> moment;
  HeapKey heap;
  std::optional<FreeBlocks> free;          // Nothing if the source does not report regions.
  std::shared_ptr<const Document> device;  // All memory of its device. Null if a size is unknown.
};
// Why the pool is larger than what was requested: over the whole trace, or at the selected time alone.
struct PoolCostsAnswer {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::vector<PoolCosts> times;  // Ascending.
  std::string unknown;           // Why there are none; not a sentence.
};
struct FailureAnswer {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::uint64_t event = 0, requested_bytes = 0;
  std::optional<std::uint64_t> log_line;  // From 1. A heap that comes from a log has no earlier events.
  std::optional<FreeBlocks> free;         // Free memory just before the failure.
  std::shared_ptr<const Document> document;
  std::vector<Advice> advice;
  // The failure's number, from 1, and the count of out-of-memory failures of this heap.
  std::size_t number = 0, of = 0;
};
// What the answer bar says: the failure of the shown heap, else the first one of the trace, else the heap's peak.
struct HeadlineAnswer {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::string heap_name;
  std::shared_ptr<const GatheredFacts> facts;  // Of the failure; a deeper diagnosis begins with them.
  std::optional<Diagnosis> failure;            // Without replays.
  std::size_t number = 0, of = 0;              // As in FailureAnswer.
  // Without a failure, at the heap's peak:
  HeapPeak peak;
  std::optional<std::int64_t> peak_since_start_ns;
  std::uint64_t peak_pool_bytes = 0;  // 0: unknown.
  std::optional<std::uint64_t> peak_free_bytes, peak_largest_free_bytes;
  Holders holders;
  std::optional<Outlook> outlook;         // Absent: it does not grow steadily.
  std::optional<HolderRow> largest_name;  // What the job named and holds most, at that time.
  FrameKey grows_by;                      // The line that keeps the most of what is left by steps. Empty: unknown.

  std::uint64_t holders_bytes() const { return failure ? failure->holders.bytes : holders.bytes; }
  const Growth* growth() const {
    const Growth* one = failure && failure->growth ? &*failure->growth : outlook ? &outlook->growth : nullptr;
    return one != nullptr && one->is_steady ? one : nullptr;
  }
};
// The requests to the heap's device, replayed under the settings that people try, and under those that were typed.
struct WhatIfAnswer {
  std::shared_ptr<const Trace> trace;
  HeapKey heap;
  std::string own;                 // The job's own settings, and whether it replays under them; sentences.
  std::vector<WhatIfRow> rows;     // The first one: as recorded. Without the changed requests.
  Table table;                     // The rows as they are shown.
  std::vector<std::string> notes;  // What is assumed; sentences without a full stop.
  std::optional<Error> unknown;    // Why there are no rows.
  std::string wrong_words;         // Why what was typed could not be tried; a sentence.
};
// The changes between two times of one trace: now - pinned.
struct CompareAnswer {
  std::shared_ptr<const TraceMoment> now, pinned;
  BlockDiff diff;
};
// Both sides, each at its own time.
struct SideBySideAnswer {
  std::shared_ptr<const TraceMoment> a, b;
  HeapComparison heaps;
  std::vector<HeldOnSides> lines;         // Those that differ, the largest change first.
  std::shared_ptr<const Document> words;  // Why they differ.
  Table figures;
};
struct SizesAnswer {
  std::shared_ptr<const TraceMoment> moment;
  HeapKey heap;
  HeapMetrics metrics;
  std::vector<BfcBin> bins;  // Empty: not of a BFC allocator.
};

}  // namespace hbmscope::gui
