// Everything about the selected block or gap (draw_inspector_piece.h) or frame, always in this order: what, how much,
// where (devices, kinds), allocated by (callers, callees, the largest stacks).
#pragma once

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/views/tile_picture/draw_tile_picture.h"

namespace hbmscope::gui {

struct InspectorState {
  bool all_frames = false;                            // Library frames of the stacks too.
  std::shared_ptr<const AddressAnswer> history_seen;  // Was scrolled to its current row.
  TilePictureState tiles;                             // Of the selected block's array.
};

void draw_inspector(const AppState& state, InspectorState& inspector, CommandQueue& commands);

}  // namespace hbmscope::gui
