// The jobs of this machine, and attaching to one: on the first page, and as a window of its own.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The list with its filter, where the cursor stands. `has_keys`: arrows choose, Enter attaches.
void draw_job_list(const AppState& state, CommandQueue& commands, bool has_keys);

struct JobsWindowState {
  bool was_open = false;
};
void draw_jobs_window(const AppState& state, JobsWindowState& window, CommandQueue& commands);

}  // namespace hbmscope::gui
