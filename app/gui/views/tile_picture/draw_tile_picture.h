// The picture of an array's tiles: data, hatched padding, and a caption with bytes, share and scale.
#pragma once

#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"
#include "app/gui/look/map_texture.h"
#include "app/gui/views/tile_picture/tile_picture.h"

namespace hbmscope::gui {

struct TilePictureState {
  std::string of;  // The layout, theme and size that the picture was drawn for.
  TilePicture picture;
  MapTexture texture;
};

// As wide as the available room, at most `height_most` high. `tiles` may show another array in the next frame.
void draw_tiles(const AppState& state, TilePictureState& tiles, const TileGrid& grid, float height_most);

// Fills the whole window; Escape closes it.
void draw_tiles_alone(const AppState& state, TilePictureState& tiles, CommandQueue& commands);

}  // namespace hbmscope::gui
