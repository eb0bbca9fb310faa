// Two profiles compared. Stacks are matched by function and file tail, not by line and not by path prefix: a week of
// edits moves every line, another machine moves every folder, and neither makes the memory new. `StackMatch::line`
// matches lines too. The share of bytes without a partner is part of the answer, so that a bad match is seen.
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

// A frame's flat change over all stacks.
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
  bool is_by_file_name = false;  // A side was stripped of its paths (file_match.h).
  std::string unit;              // Of all `bytes`: "bytes", or the primary unit of profiles without bytes.
  Weight baseline, now;
  std::vector<Frame> frame_table;    // All frames of both sides.
  std::vector<DiffRow> stacks;       // By absolute change of bytes, the largest first.
  std::vector<FrameDiffRow> frames;  // By absolute change of flat bytes.
  std::vector<GroupDiffRow> devices, kinds;
  // Bytes of stacks that have no partner on the other side, of all bytes of both sides.
  std::int64_t unmatched_bytes = 0, compared_bytes = 0;
};

// Give views with the same filters and FrameBy::line: a row that was matched without lines then still names the line
// that changed most.
//
// A million stacks on each side take about 5 s; nothing where `cancelled` became true meanwhile.
std::optional<ProfileDiff> compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match,
                                        const std::atomic<bool>* cancelled);
ProfileDiff compute_diff(const ProfileView& baseline, const ProfileView& now, StackMatch match = StackMatch::function);

// Why two views can't be compared: one is of bytes, the other of nanoseconds. Nothing where they can.
std::optional<Error> find_mismatch(const ProfileView& baseline, const ProfileView& now);

}  // namespace hbmscope
