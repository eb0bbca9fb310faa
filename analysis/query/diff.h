// Compares two profiles. Stacks are matched by function and file tail, not by line or path prefix: a week of edits
// moves every line, another machine changes every folder, and neither makes the memory new. `StackMatch::line` matches
// lines too. The share of unmatched bytes is part of the result, so that a bad match is visible.
//
// Sign: now - baseline. Addresses are not compared.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/clamped.h"
#include "analysis/query/profile_view.h"

namespace hbmscope {

enum class StackMatch { function, line };
enum class Change { grown, added, shrunk, gone, same };
std::string_view text_from_change(Change change);  // "grown", "new", "shrunk", "gone", "same"

struct DiffRow {
  Change change = Change::same;
  std::vector<FrameIndex> stack;  // Innermost first, into ProfileDiff::frame_table.
  Weight baseline, now;

  std::int64_t delta_bytes() const { return clamped_difference(now.bytes, baseline.bytes); }
  std::int64_t delta_count() const { return clamped_difference(now.count, baseline.count); }
};

// The flat change of a frame over all stacks.
struct FrameDiffRow {
  Change change = Change::same;
  Frame frame;
  Weight baseline_flat, now_flat, baseline_cum, now_cum;
};

struct GroupDiffRow {
  std::optional<std::string> name;
  Weight baseline, now;
};

struct ProfileDiff {
  std::string baseline_name, now_name;
  StackMatch match = StackMatch::function;
  bool is_by_file_name = false;  // One side was stripped of its paths (file_match.h).
  std::string unit;              // The unit of all `bytes`: "bytes", or the primary unit of profiles without bytes.
  Weight baseline, now;
  std::vector<Frame> frame_table;    // All frames of both sides.
  std::vector<DiffRow> stacks;       // Largest absolute byte change first.
  std::vector<FrameDiffRow> frames;  // Largest absolute change of flat bytes first.
  std::vector<GroupDiffRow> devices, kinds;
  // Bytes of stacks without a match on the other side, out of all bytes of both sides.
  std::int64_t unmatched_bytes = 0, compared_bytes = 0;
};

// Pass views with the same filters and FrameBy::line: a row that was matched without lines then still names the line
// that changed most.
//
// A million stacks on each side take about 5 s. Returns nothing if `cancelled` became true.
std::optional<ProfileDiff> compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match,
                                        const std::atomic<bool>* cancelled);
ProfileDiff compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match = StackMatch::function);

// Why two views can't be compared (one is in bytes, the other in nanoseconds). Nothing if they can.
std::optional<Error> find_mismatch(const ProfileView& baseline, const ProfileView& now);

}  // namespace hbmscope
