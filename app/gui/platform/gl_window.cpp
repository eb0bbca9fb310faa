#include "app/gui/platform/gl_window.h"

#include <GLFW/glfw3.h>
#include <imgui_impl_glfw.h>

#include <algorithm>
#include <cstdlib>

#define GLAD_GL_IMPLEMENTATION
#include <glad/gl.h>

#include "app/gui/platform/window.h"

namespace hbmscope::gui {

namespace {

std::string last_glfw_error() {
  const char* text = nullptr;
  glfwGetError(&text);
  return text != nullptr ? text : "no reason given";
}

// The window system to use. Wayland's library prints to stderr when it is tried without a Wayland session, so we avoid
// it.
int display_platform() {
  const bool wayland_possible = std::getenv("WAYLAND_DISPLAY") != nullptr || std::getenv("XDG_RUNTIME_DIR") != nullptr;
  return !wayland_possible && glfwPlatformSupported(GLFW_PLATFORM_X11) ? GLFW_PLATFORM_X11 : GLFW_ANY_PLATFORM;
}

constexpr const char* install_hint =
    "Install OpenGL and a driver; on Debian and Ubuntu: apt install libegl1 libgl1 libgl1-mesa-dri.";

Error no_display_error() {
  return {.what = "there is no display to open a window on (" + last_glfw_error() + ")",
          .remedy =
              "Start it in a desktop session, or draw a picture without one: hbmscope open FILE --screenshot out.png.",
          .file = {},
          .offset = {}};
}

Error no_opengl_error(Surface surface, const std::string& why) {
  const std::string what = surface == Surface::offscreen ? "OpenGL 3.3 could not be started without a display"
                                                         : "OpenGL 3.3 could not be started";
  return {.what = what + " (" + why + ")", .remedy = install_hint, .file = {}, .offset = {}};
}

// A laptop's screen is often smaller than the requested size, and the window must not extend beyond it.
void fit_into_monitor(GLFWwindow* window) {
  GLFWmonitor* monitor = glfwGetPrimaryMonitor();
  if (monitor == nullptr) return;
  int x = 0, y = 0, room_width = 0, room_height = 0, width = 0, height = 0;
  glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
  glfwGetWindowSize(window, &width, &height);
  if (room_width <= 0 || room_height <= 0 || (width <= room_width && height <= room_height)) return;
  glfwSetWindowSize(window, std::min(width, room_width), std::min(height, room_height));
}

GLFWwindow* create_window(Surface surface, int width, int height, const std::string& title, int context_api) {
  glfwDefaultWindowHints();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 3);
  glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
  glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);  // Required for a core profile on macOS.
  glfwWindowHint(GLFW_CONTEXT_CREATION_API, context_api);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, surface == Surface::display ? GLFW_TRUE : GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "hbmscope");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "hbmscope");
  glfwWindowHintString(GLFW_WAYLAND_APP_ID, "hbmscope");
  return glfwCreateWindow(width, height, title.c_str(), nullptr, nullptr);
}

}  // namespace

bool has_display() {
  glfwInitHint(GLFW_PLATFORM, display_platform());
  if (!glfwInit()) return false;
  glfwTerminate();
  return true;
}

Result<std::unique_ptr<GlWindow>> GlWindow::open(Surface surface, int width, int height, const std::string& title) {
  const bool offscreen = surface == Surface::offscreen;
  glfwInitHint(GLFW_PLATFORM, offscreen ? GLFW_PLATFORM_NULL : display_platform());
  if (!glfwInit()) return Failure(no_display_error());

  GLFWwindow* window =
      create_window(surface, width, height, title, offscreen ? GLFW_EGL_CONTEXT_API : GLFW_NATIVE_CONTEXT_API);
  std::string why = window == nullptr ? last_glfw_error() : "";
  if (window == nullptr && !offscreen) {  // X servers without GLX may have EGL.
    window = create_window(surface, width, height, title, GLFW_EGL_CONTEXT_API);
    if (window == nullptr) why += "; " + last_glfw_error();
  }
  if (window != nullptr) {
    glfwMakeContextCurrent(window);
    if (gladLoadGL(glfwGetProcAddress) == 0) {
      why = "its functions could not be loaded";
      glfwDestroyWindow(window);
      window = nullptr;
    }
  }
  if (window == nullptr) {
    glfwTerminate();
    return Failure(no_opengl_error(surface, why));
  }

  if (!offscreen) {
    fit_into_monitor(window);
    glfwSwapInterval(1);
  }
  return std::unique_ptr<GlWindow>(new GlWindow(window, surface));
}

GlWindow::~GlWindow() {
  glfwDestroyWindow(window_);
  glfwTerminate();
}

float GlWindow::content_scale() const {
  return surface_ == Surface::offscreen ? 1.0F : ImGui_ImplGlfw_GetContentScaleForWindow(window_);
}

}  // namespace hbmscope::gui
