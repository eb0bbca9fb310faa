// Why a request failed: one sentence with the figures, the ruler, the last time the request would have fit, and the
// blocking allocations.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FailureViewState {
  std::uint64_t copy_seen = 0;
};

void draw_failure(const AppState& state, FailureViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
