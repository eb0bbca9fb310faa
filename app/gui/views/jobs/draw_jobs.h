// Lists the jobs of this machine or another one and attaches to them: on the first page, and as a window of its own.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The machine, and the list with its filter. `has_keys`: arrows choose, Enter attaches. `focuses_filter`: the cursor
// goes there.
void draw_job_list(const AppState& state, CommandQueue& commands, bool has_keys, bool focuses_filter = false);

struct JobsWindowState {
  bool was_open = false, has_focused = false;
};
void draw_jobs_window(const AppState& state, JobsWindowState& window, CommandQueue& commands);

}  // namespace hbmscope::gui
