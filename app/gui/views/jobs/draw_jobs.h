// Lists the jobs of this or another machine and attaches to them, on the first page or in a separate window.
#pragma once

#include <optional>

#include <imgui.h>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The machine, and the filtered list. `has_keys`: arrow keys select, Enter attaches. `focuses_filter`: puts the cursor
// into the filter.
struct JobListState {
  std::optional<JobListing> held;  // While the pointer is over it.
  ImVec2 from, to;                 // Its corners.
};
void draw_job_list(const AppState& state, JobListState& list, CommandQueue& commands, bool has_keys,
                   bool focuses_filter = false);

struct JobsWindowState {
  JobListState list;
  bool was_open = false, has_focused = false;
};
void draw_jobs_window(const AppState& state, JobsWindowState& window, CommandQueue& commands);

}  // namespace hbmscope::gui
