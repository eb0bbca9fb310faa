// What the Inspector shows about a frame: its amount, devices, kinds, callers and largest stacks. It covers all samples
// that pass through the frame, each counted once.
#pragma once

#include <memory>
#include <vector>

#include "analysis/query/groups.h"
#include "analysis/query/profile_view.h"
#include "analysis/query/top.h"

namespace hbmscope::gui {

struct HeldStack {
  std::vector<FrameIndex> frames;  // Innermost first.
  Weight weight;
};

struct FrameDetail {
  std::shared_ptr<const ProfileView> view;  // The view that defines the frame numbers.
  FrameIndex frame = FrameIndex::none;
  Neighbours neighbours;
  std::vector<GroupRow> by_device, by_kind;
  std::vector<HeldStack> stacks;  // The largest ones, at most `stack_limit`.
  std::size_t stack_count = 0;    // Number of distinct stacks.
};

FrameDetail compute_frame_detail(const std::shared_ptr<const ProfileView>& view, FrameIndex frame,
                                 std::size_t stack_limit = 5);

}  // namespace hbmscope::gui
