// What an offscreen frame is drawn on: a framebuffer of exactly the size that was asked for. The context's own surface
// would not do, because its size is up to the driver.
#pragma once

#include <cstdint>

#include "app/gui/platform/picture.h"

namespace hbmscope::gui {

// What lies in the framebuffer that is bound for reading.
Picture read_bound_pixels(int width, int height);

class FrameTarget {
 public:
  // Needs a current context, as do all functions here. Errors: the driver refuses that size.
  static Result<FrameTarget> make(int width, int height);
  FrameTarget(FrameTarget&& other) noexcept;
  FrameTarget& operator=(FrameTarget&&) = delete;
  ~FrameTarget();

  void bind() const;
  Picture read() const;

 private:
  FrameTarget(int width, int height) : width_(width), height_(height) {}

  int width_, height_;
  std::uint32_t framebuffer_ = 0, color_ = 0;
};

}  // namespace hbmscope::gui
