// A window with an OpenGL 3.3 context, or the same with no window: on GLFW's Null platform with an EGL context, which
// needs neither a display nor a window system. One at a time in a process, because GLFW is initialised once.
#pragma once

#include <memory>
#include <string>

#include "analysis/model/result.h"

struct GLFWwindow;

namespace hbmscope::gui {

enum class Surface { display, offscreen };

class GlWindow {
 public:
  // `width` and `height` are pixels at a scale of 1; a display's own scale enlarges its window. Errors say which
  // library or driver is missing, and how to get it.
  static Result<std::unique_ptr<GlWindow>> open(Surface surface, int width, int height, const std::string& title);
  ~GlWindow();
  GlWindow(const GlWindow&) = delete;
  GlWindow& operator=(const GlWindow&) = delete;

  GLFWwindow* handle() const { return window_; }
  Surface surface() const { return surface_; }
  // How much larger than at 96 dots an inch text should be here: 1 offscreen, and where the system enlarges by itself.
  float content_scale() const;

 private:
  GlWindow(GLFWwindow* window, Surface surface) : window_(window), surface_(surface) {}

  GLFWwindow* window_;
  Surface surface_;
};

}  // namespace hbmscope::gui
