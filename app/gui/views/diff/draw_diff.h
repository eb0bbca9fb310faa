// The changes since the baseline, which the head names; the sign is now - baseline. Totals, devices and kinds come
// first, then stacks or functions by absolute change.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct DiffState {
  bool by_function = false;  // False: by stack.
  // Made for one diff.
  Table stacks, frames;
  std::shared_ptr<const ProfileDiff> tables_of;
  TableState stack_rows, frame_rows;
  std::uint64_t copy_seen = 0;
};

void draw_diff(const AppState& state, DiffState& diff, CommandQueue& commands);

}  // namespace hbmscope::gui
