#include "app/gui/core/frame_detail.h"

#include <algorithm>
#include <map>

namespace hbmscope::gui {
namespace {

bool passes_through(const ProfileView& view, const std::vector<bool>& holds_frame, std::uint32_t sample) {
  const auto stack = view.stack(sample);
  return std::any_of(stack.begin(), stack.end(),
                     [&](LocationIndex location) { return static_cast<bool>(holds_frame[row(location)]); });
}

// The view restricted to the samples that pass through the frame.
ProfileView narrow(const ProfileView& view, FrameIndex frame) {
  std::vector<bool> holds_frame(view.profile->location_count());
  for (std::size_t i = 0; i < holds_frame.size(); ++i) {
    const auto frames = view.frames_of(static_cast<LocationIndex>(i));
    holds_frame[i] = std::find(frames.begin(), frames.end(), frame) != frames.end();
  }
  ProfileView narrowed = view;
  narrowed.all_samples = false;
  narrowed.samples.clear();
  narrowed.selected = {};
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    if (!passes_through(view, holds_frame, sample)) continue;
    narrowed.samples.push_back(sample);
    narrowed.selected += view.weight(sample);
  }
  return narrowed;
}

// Only the largest samples are considered. Merging a million stacks to show five would be too expensive. Equal stacks
// among the largest samples (one per device) are merged.
constexpr std::size_t samples_for_stacks = 4096;

std::vector<HeldStack> largest_stacks(const ProfileView& narrowed, std::size_t limit, std::size_t& stack_count) {
  std::vector<std::uint32_t> samples = narrowed.samples;
  const std::size_t considered = std::min(samples.size(), samples_for_stacks);
  std::partial_sort(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(considered), samples.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      const std::int64_t first = narrowed.weight(a).bytes, second = narrowed.weight(b).bytes;
                      return first != second ? first > second : a < b;
                    });
  std::map<std::vector<FrameIndex>, Weight> joined;
  for (std::size_t i = 0; i < considered; ++i)
    joined[narrowed.visible_stack(samples[i])] += narrowed.weight(samples[i]);
  stack_count = joined.size();

  std::vector<HeldStack> stacks;
  stacks.reserve(joined.size());
  for (const auto& [frames, weight] : joined) stacks.push_back({frames, weight});
  std::stable_sort(stacks.begin(), stacks.end(),
                   [](const HeldStack& a, const HeldStack& b) { return a.weight.bytes > b.weight.bytes; });
  if (stacks.size() > limit) stacks.resize(limit);
  return stacks;
}

}  // namespace

FrameDetail compute_frame_detail(const std::shared_ptr<const ProfileView>& view, FrameIndex frame,
                                 std::size_t stack_limit) {
  FrameDetail detail;
  detail.view = view;
  detail.frame = frame;
  detail.neighbours = compute_neighbours(*view, frame);
  const ProfileView narrowed = narrow(*view, frame);
  detail.by_device = compute_groups(narrowed, "device");
  detail.by_kind = compute_groups(narrowed, "kind");
  detail.stacks = largest_stacks(narrowed, stack_limit, detail.stack_count);
  return detail;
}

}  // namespace hbmscope::gui
