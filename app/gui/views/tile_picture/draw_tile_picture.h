// The picture of an array's tiles: data, padding hatched, with bytes, share and scale in words.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/map_texture.h"
#include "app/gui/views/tile_picture/tile_picture.h"

namespace hbmscope::gui {

struct TilePictureState {
  std::string of;  // Layout, theme and room that the picture was drawn for.
  TilePicture picture;
  MapTexture texture;
};

// As wide as there is room, at most this high. `state` can show another array in the next frame.
void draw_tiles(const AppState& state, TilePictureState& tiles, const TileGrid& grid, float height_most);

// In the whole window; Escape ends it.
void draw_tiles_alone(const AppState& state, TilePictureState& tiles, CommandQueue& commands);

}  // namespace hbmscope::gui
