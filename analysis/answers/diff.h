// What changed, as documents: between two profiles, between two traces, between two times of one trace, and between two
// heaps that are shown side by side.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diagnose/heap_comparison.h"
#include "analysis/diagnose/holders.h"
#include "analysis/document/document.h"
#include "analysis/query/block_diff.h"
#include "analysis/query/diff.h"
#include "analysis/query/job_facts.h"
#include "analysis/trace/moment.h"

namespace hbmscope {

// The part of a comparison that only traces have.
struct TraceDiff {
  const Trace &baseline, &now;
  const Moment &baseline_moment, &now_moment;
  std::vector<SettingChange> settings;
  std::shared_ptr<const BlockDiff> blocks;
  std::optional<HeapComparison> heaps;  // A is the baseline, B is now.
};

struct DiffRequest {
  std::size_t top = 15;          // 0: all rows.
  bool is_for_programs = false;  // They get these rows, whether they changed or not; readers get those that changed.
};
Document describe_diff(const std::shared_ptr<const ProfileDiff>& diff, const TraceDiff* traces,
                       const DiffRequest& request);

// The changed rows, or all, the largest change first.
enum class DiffRows { changed, all };
Table describe_diff_stacks(const std::shared_ptr<const ProfileDiff>& diff, DiffRows rows = DiffRows::changed);
Table describe_diff_frames(const std::shared_ptr<const ProfileDiff>& diff, DiffRows rows = DiffRows::changed);
// The blocks that changed, by line of your code. Kinds of change without any block have no title.
Table describe_block_diff(const std::shared_ptr<const BlockDiff>& blocks);

// A kind of change of blocks: "new", "gone", ...
struct NamedChange {
  std::string_view name, title, meaning;
  BlockChange BlockChanges::*part;
};
extern const std::array<NamedChange, 6> named_changes;

// The settings that differ, a line each: "torch.allocator.expandable_segments: False -> True".
Table describe_settings(const std::vector<SettingChange>& settings);

// What a line of your code holds on each side; where most bytes have no stack: a category, a tag or a size.
struct HeldOnSides {
  std::string name;            // As it is shown.
  std::string where;           // A filter that finds its blocks; empty if there is none.
  std::uint64_t a = 0, b = 0;  // Bytes.

  std::int64_t change() const { return static_cast<std::int64_t>(b) - static_cast<std::int64_t>(a); }
};
// Why two heaps that are shown side by side differ: settings, sentences, and what changed. `held_by`: absent, each
// side's memory is known by something else. `lines`: those that differ, the largest change first.
Document describe_differences(const HeapComparison& heaps, const std::vector<SettingChange>& settings,
                              std::optional<Holders::By> held_by, const std::vector<HeldOnSides>& lines);
Table describe_held_on_sides(const std::vector<HeldOnSides>& lines);

// The figures of two heaps.
Table describe_heap_figures(const std::vector<ComparisonRow>& rows);

}  // namespace hbmscope
