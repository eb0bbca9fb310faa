// The target of frames: a framebuffer of exactly the requested size, which keeps what was drawn. The context's own
// surface can't be used, because its content is lost after it was shown, and offscreen its size depends on the driver.
#pragma once

#include <cstdint>

#include "app/gui/platform/picture.h"

namespace hbmscope::gui {

class FrameTarget {
 public:
  // All functions here need a current context. Errors: the driver refuses that size.
  static Result<FrameTarget> make(int width, int height);
  FrameTarget(FrameTarget&& other) noexcept;
  FrameTarget& operator=(FrameTarget&&) = delete;
  ~FrameTarget();

  void bind() const;
  void copy_to_surface() const;  // Copies to the context's own surface and leaves it bound.
  int width() const { return width_; }
  int height() const { return height_; }
  Picture read() const;

 private:
  FrameTarget(int width, int height) : width_(width), height_(height) {}

  int width_ = 0, height_ = 0;
  std::uint32_t framebuffer_ = 0, color_ = 0;
};

}  // namespace hbmscope::gui
