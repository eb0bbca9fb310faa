// A texture for opaque pixels that a view draws itself; it is uploaded only when they change. ImGui's texture requests
// pass it to the renderer, so views don't need OpenGL. Its rows are stored from the bottom up, as those of a
// framebuffer are, so that the platform can copy a picture of opaque pixels instead of drawing it
// (platform/opaque_pictures.h).
#pragma once

#include <memory>
#include <vector>

#include <imgui.h>

#include "app/gui/core/heap_raster.h"

namespace hbmscope::gui {

class MapTexture {
 public:
  MapTexture() = default;
  ~MapTexture();
  MapTexture(const MapTexture&) = delete;
  MapTexture& operator=(const MapTexture&) = delete;

  void set(const std::vector<Pixel>& pixels, int width, int height);
  void draw(ImDrawList& draw, ImVec2 at);
  void draw(ImDrawList& draw, ImVec2 from, ImVec2 to);  // Stretched.

 private:
  void retire();
  void drop_retired();

  std::unique_ptr<ImTextureData> texture_;
  std::vector<std::unique_ptr<ImTextureData>> retired_;  // Kept until the renderer has released them.
  int width_ = 0, height_ = 0;                           // The visible part of the texture.
};

// Whether it belongs to a MapTexture.
bool is_opaque(const ImTextureData& texture);

}  // namespace hbmscope::gui
