// Rectangles drawn into pixels, which are then shown as one texture. A picture of thousands of bars costs the graphics
// driver one quad instead of thousands of triangles; without a graphics card that is most of a frame.
#pragma once

#include <vector>

#include <imgui.h>

#include "app/gui/core/heap_raster.h"
#include "app/gui/look/map_texture.h"

namespace hbmscope::gui {

class PixelCanvas {
 public:
  // Fills it with an opaque colour; it covers [from, to) of the screen.
  void begin(ImVec2 from, ImVec2 to, ImU32 background);
  // As ImDrawList::AddRectFilled: a pixel is covered if its centre is. What is outside is cut off.
  void AddRectFilled(ImVec2 from, ImVec2 to, ImU32 color);
  // Uploads the pixels if they changed since the last time, and draws them.
  void end(ImDrawList& draw);

 private:
  ImVec2 from_{};
  int width_ = 0, height_ = 0;
  std::vector<Pixel> pixels_, shown_;
  int shown_width_ = 0;
  MapTexture texture_;
};

}  // namespace hbmscope::gui
