// Any answer that has no view of its own, chosen from a list.
#pragma once

#include <cstdint>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/draw_document.h"

namespace hbmscope::gui {

struct TablesState {
  std::uint64_t copy_seen = 0;
  DocumentState document;
};

void draw_tables(const AppState& state, TablesState& view, CommandQueue& commands);

}  // namespace hbmscope::gui
