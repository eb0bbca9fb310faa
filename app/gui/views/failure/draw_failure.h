// Why a request failed: the answer as everything shows it, and the ruler with the free memory just before.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_document.h"

namespace hbmscope::gui {

struct FailureViewState {
  std::uint64_t copy_seen = 0, remedies_seen = 0;
  DocumentState document;
};

void draw_failure(const AppState& state, FailureViewState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
