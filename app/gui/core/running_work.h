// What is being computed for the views now: how far it is, and what was cancelled by the person.
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
  std::uint64_t done_events = 0, total_events = 0;  // Total 0: how much there is to do is not known.
};
std::vector<RunningWork> running_work(const std::vector<Context>& contexts);  // The longest running first.

// Something that the views on screen need was cancelled, and is missing therefore.
bool has_stopped_work(const std::vector<Context>& contexts);

}  // namespace hbmscope::gui
