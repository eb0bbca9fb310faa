// The canvas of the page, which has the size that the browser gives it.
#include <GLFW/glfw3.h>
#include <emscripten/html5.h>

#include "app/gui/platform/gl_window.h"
#include "app/gui/platform/window.h"

namespace hbmscope::gui {

bool has_display() {
  return true;
}

Result<std::unique_ptr<GlWindow>> GlWindow::open(Surface surface, int width, int height, const std::string& title) {
  glfwInit();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  GLFWwindow* window = glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
  if (window == nullptr)
    return Failure(Error{.what = "the browser has no WebGL 2",
                         .remedy = "Use another browser, or allow it to use the graphics card.",
                         .file = {},
                         .offset = {}});
  glfwMakeContextCurrent(window);
  return std::unique_ptr<GlWindow>(new GlWindow(window, surface));
}

GlWindow::~GlWindow() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

float GlWindow::content_scale() const {
  return static_cast<float>(emscripten_get_device_pixel_ratio());
}

}  // namespace hbmscope::gui
