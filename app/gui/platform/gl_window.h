// A window with an OpenGL 3.3 context, or such a context without a window, on GLFW's Null platform with EGL, which
// needs neither a display nor a window system. Only one per process, because GLFW is initialised once.
#pragma once

#include <memory>
#include <string>

#include "analysis/model/result.h"

struct GLFWwindow;

namespace hbmscope::gui {

enum class Surface { display, offscreen };

class GlWindow {
 public:
  // `width` and `height` are pixels at a scale of 1; on a scaled display the window is larger. Errors name the missing
  // library or driver and how to get it.
  static Result<std::unique_ptr<GlWindow>> open(Surface surface, int width, int height, const std::string& title);
  ~GlWindow();
  GlWindow(const GlWindow&) = delete;
  GlWindow& operator=(const GlWindow&) = delete;

  GLFWwindow* handle() const { return window_; }
  Surface surface() const { return surface_; }
  // Text scale relative to 96 dpi. 1 offscreen and on systems that scale windows themselves.
  float content_scale() const;

 private:
  GlWindow(GLFWwindow* window, Surface surface) : window_(window), surface_(surface) {}

  GLFWwindow* window_;
  Surface surface_;
};

}  // namespace hbmscope::gui
