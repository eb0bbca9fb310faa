# GLFW by its own build files: X11 and Wayland where their headers are installed, the Null platform (pictures and tests
# without a display) always. X11, EGL and OpenGL are opened at run time, so that linking needs none of them.
find_package(PkgConfig REQUIRED)

set(glfw_x11 OFF)
set(glfw_wayland OFF)
if(UNIX AND NOT APPLE)
  find_package(X11 QUIET)
  if(X11_FOUND AND X11_Xrandr_INCLUDE_PATH AND X11_Xinerama_INCLUDE_PATH AND X11_Xkb_INCLUDE_PATH
     AND X11_Xcursor_INCLUDE_PATH AND X11_Xi_INCLUDE_PATH AND X11_Xshape_INCLUDE_PATH)
    set(glfw_x11 ON)
  endif()
  pkg_check_modules(glfw_wayland_packages QUIET wayland-client>=0.2.7 wayland-cursor>=0.2.7 wayland-egl>=0.2.7
                    xkbcommon>=0.5.0)
  find_program(glfw_wayland_scanner wayland-scanner)
  mark_as_advanced(glfw_wayland_scanner)
  if(glfw_wayland_packages_FOUND AND glfw_wayland_scanner)
    set(glfw_wayland ON)
  endif()
  if(NOT glfw_x11 AND NOT glfw_wayland)
    message(WARNING "Neither X11's nor Wayland's headers are complete: hbmscope will draw pictures, but open no window. "
                    "On Debian: apt install libxrandr-dev libxinerama-dev libxcursor-dev libxi-dev libwayland-dev "
                    "libxkbcommon-dev")
  endif()
endif()

set(GLFW_BUILD_X11 ${glfw_x11} CACHE INTERNAL "")
set(GLFW_BUILD_WAYLAND ${glfw_wayland} CACHE INTERNAL "")
foreach(part EXAMPLES TESTS DOCS)
  set(GLFW_BUILD_${part} OFF CACHE INTERNAL "")
endforeach()
set(GLFW_INSTALL OFF CACHE INTERNAL "")
add_subdirectory(${HBMSCOPE_BUNDLE_EXTERNAL}/glfw/glfw ${CMAKE_CURRENT_BINARY_DIR}/glfw EXCLUDE_FROM_ALL)
target_compile_options(glfw PRIVATE -w)

add_library(glfw_headers INTERFACE)
target_include_directories(glfw_headers SYSTEM INTERFACE ${HBMSCOPE_BUNDLE_EXTERNAL}/glfw/glfw/include
                                                         ${HBMSCOPE_BUNDLE_EXTERNAL}/glfw/glfw/deps)
target_compile_definitions(glfw_headers INTERFACE GLFW_INCLUDE_NONE)
