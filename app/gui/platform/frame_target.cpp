#include "app/gui/platform/frame_target.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/gui/platform/gl.h"

namespace hbmscope::gui {

Result<FrameTarget> FrameTarget::make(int width, int height) {
  GLint limit = 0;
  glGetIntegerv(GL_MAX_RENDERBUFFER_SIZE, &limit);
  if (width < 1 || height < 1 || width > limit || height > limit) {
    return Failure(Error{
        .what = "a picture of " + std::to_string(width) + " x " + std::to_string(height) + " pixels can't be drawn",
        .remedy = "Give a size of at most " + std::to_string(limit) + " pixels each way.",
        .file = {},
        .offset = {}});
  }
  FrameTarget target(width, height);
  glGenRenderbuffers(1, &target.color_);
  glBindRenderbuffer(GL_RENDERBUFFER, target.color_);
  glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, width, height);
  glGenFramebuffers(1, &target.framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, target.framebuffer_);
  glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, target.color_);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE) {
    return Failure(Error{.what = "the graphics driver can't draw into memory",
                         .remedy = "Try the software driver: LIBGL_ALWAYS_SOFTWARE=1.",
                         .file = {},
                         .offset = {}});
  }
  return target;
}

FrameTarget::FrameTarget(FrameTarget&& other) noexcept
    : width_(other.width_),
      height_(other.height_),
      framebuffer_(std::exchange(other.framebuffer_, 0)),
      color_(std::exchange(other.color_, 0)) {}

FrameTarget::~FrameTarget() {
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
  if (color_ != 0) glDeleteRenderbuffers(1, &color_);
}

void FrameTarget::bind() const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
}

void FrameTarget::copy_to_surface() const {
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
  glBlitFramebuffer(0, 0, width_, height_, 0, 0, width_, height_, GL_COLOR_BUFFER_BIT, GL_NEAREST);
  glBindFramebuffer(GL_FRAMEBUFFER, 0);
}

namespace {

Picture read_bound_pixels(int width, int height) {
  // With alpha: WebGL reads nothing else (OpenGL ES 3.0, 4.3.2).
  const auto columns = static_cast<std::size_t>(width), rows = static_cast<std::size_t>(height);
  std::vector<std::uint8_t> rgba(columns * rows * 4);
  glReadPixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, rgba.data());
  Picture picture{.width = width, .height = height, .rgb = {}};
  picture.rgb.resize(columns * rows * 3);
  std::uint8_t* out = picture.rgb.data();
  for (std::size_t row = rows; row-- > 0;) {  // OpenGL counts rows from the bottom.
    const std::uint8_t* in = rgba.data() + row * columns * 4;
    for (std::size_t column = 0; column < columns; ++column, in += 4) out = std::copy_n(in, 3, out);
  }
  return picture;
}

}  // namespace

Picture FrameTarget::read() const {
  bind();
  return read_bound_pixels(width_, height_);
}

}  // namespace hbmscope::gui
