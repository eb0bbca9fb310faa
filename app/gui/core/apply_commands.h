// Applies commands, one function per group. Each returns false if the command does not belong to its group. All of them
// act on the bound context.
#pragma once

#include "app/gui/core/answering.h"
#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/open_sources.h"
#include "app/gui/core/recent_files.h"
#include "app/gui/core/side_by_side.h"
#include "app/gui/core/worker_pool.h"

namespace hbmscope::gui {

bool apply_to_blocks(AppState& state,
                     const Command& command);                  // Finds blocks, sorts them, steps through them.
bool apply_to_trace(AppState& state, const Command& command);  // Time, heap and address.
bool apply_to_position(AppState& state, SideBySide& sides,
                       const Command& command);  // View, filter, selection, baseline.
bool apply_to_flame(AppState& state, const Command& command);
bool apply_to_window(AppState& state, WorkerPool& pool, Answering& asking, const Command& command);
bool apply_to_files(AppState& state, OpenSources& sources, RecentFiles& recent, const Command& command);

}  // namespace hbmscope::gui
