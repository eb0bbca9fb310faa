// The page shown while no file is open: open a file, a recent file, the sample or the demo, or attach to a job.
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/jobs/draw_jobs.h"

namespace hbmscope::gui {

void draw_first_launch(const AppState& state, JobListState& jobs, CommandQueue& commands);

}  // namespace hbmscope::gui
