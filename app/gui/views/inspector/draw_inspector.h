// Everything about the selected block or gap (draw_inspector_span.h) or frame, always in this order: name, amount,
// location (devices, kinds), allocated by (callers, callees, largest stacks).
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/tile_picture/draw_tile_picture.h"

namespace hbmscope::gui {

struct InspectorState {
  bool all_frames = false;                          // Also shows library frames of the stacks.
  std::shared_ptr<const AddressAnswer> history_of;  // The history of which all rows are shown.
  TilePictureState tiles;                           // For the array in the selected block.
};

void draw_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands);

}  // namespace hbmscope::gui
