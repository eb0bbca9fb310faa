// The running computations of the views, with their progress, and those that the user cancelled.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>
#include <vector>

#include "app/gui/core/app_state.h"

namespace hbmscope::gui {

struct RunningWork {
  std::string_view what;  // "the heap map"
  std::chrono::steady_clock::time_point since;
  std::uint64_t done_events = 0, total_events = 0;  // Total 0: unknown.
};
std::vector<RunningWork> running_work(const std::vector<Context>& contexts);  // Longest running first.

// True if something that a visible view needs is missing because it was cancelled.
bool has_stopped_work(const std::vector<Context>& contexts);

}  // namespace hbmscope::gui
