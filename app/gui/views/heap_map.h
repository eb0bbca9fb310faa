// Every block and every free piece of a heap, by address: what is in use, how the rest is cut up, and where the largest
// free block is.
#pragma once

#include <cstdint>
#include <memory>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/core/heap_raster.h"
#include "app/gui/views/map_texture.h"

namespace hbmscope::gui {

struct HeapMapState {
  HeapMapView view;
  bool is_fit = true;  // All is shown; else it stays at these addresses when the moment moves.
  int width = 0, height = 0;
  std::shared_ptr<const HeapMapAnswer> shown;  // Whose pixels the texture has, with
  HeapMapView drawn;                           // this view
  Theme theme = Theme::dark;                   // and these colors.
  HeapRaster raster;
  MapTexture texture;
  std::uint64_t zoom_seen = 0, copy_seen = 0;
};

void draw_heap_map(const AppState& state, HeapMapState& map, CommandQueue& commands);

}  // namespace hbmscope::gui
