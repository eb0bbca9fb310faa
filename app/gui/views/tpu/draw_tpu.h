// An emulated TPU workload: whether it fits, why not, and what changes with other settings, which can be tried here.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct TpuViewState {
  std::uint64_t copy_seen = 0;
};

void draw_tpu(const AppState& state, TpuViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
