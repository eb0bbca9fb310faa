// An emulated TPU workload: whether it fits, why not, and controls to try other settings.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_table.h"

namespace hbmscope::gui {

struct TpuViewState {
  TableState memory, figures;
  std::uint64_t copy_seen = 0;
};

void draw_tpu(const AppState& state, TpuViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
