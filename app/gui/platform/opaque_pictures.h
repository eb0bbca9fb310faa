// The pictures of a frame that hide everything below them, such as a heap map. Nothing below such a picture has to be
// drawn, and its pixels can be copied instead of being sampled, tinted and blended. With a software renderer, both
// together are most of what a frame of a large map costs.
#pragma once

#include <cstdint>
#include <vector>

#include <imgui.h>

#include "app/gui/platform/changed_parts.h"

namespace hbmscope::gui {

struct OpaquePicture {
  std::size_t list = 0;                      // The draw list and
  int command = 0;                           // its command that draws the picture.
  PixelBox box;                              // On the framebuffer; one texel for each pixel.
  int texture_left = 0, texture_bottom = 0;  // The texel of the box's lower left corner, counted from the bottom.
};

// Pictures that are at least as large as is worth a pass of its own.
std::vector<OpaquePicture> find_opaque_pictures(const ImDrawData& frame);

// A box of the framebuffer and what is to be drawn in it: everything, or a picture and what lies above it.
struct BoxToDraw {
  PixelBox box;
  const OpaquePicture* from = nullptr;
};
// Boxes that don't overlap and cover the part.
std::vector<BoxToDraw> split_at_pictures(const PixelBox& part, const std::vector<OpaquePicture>& pictures);

}  // namespace hbmscope::gui
