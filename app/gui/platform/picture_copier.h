// Copies the pixels of an opaque picture from its texture to the bound framebuffer. Whoever reads from a framebuffer
// afterwards binds it.
#pragma once

#include "app/gui/platform/opaque_pictures.h"

namespace hbmscope::gui {

class PictureCopier {
 public:
  PictureCopier() = default;
  ~PictureCopier();
  PictureCopier(const PictureCopier&) = delete;
  PictureCopier& operator=(const PictureCopier&) = delete;

  // `box` is in the picture's box.
  void copy(const OpaquePicture& picture, const PixelBox& box, const ImDrawData& frame);

 private:
  unsigned framebuffer_ = 0;  // The texture is attached to it to be read.
};

}  // namespace hbmscope::gui
