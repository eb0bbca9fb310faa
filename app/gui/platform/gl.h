// The functions of OpenGL 3.3; in a browser those of WebGL 2, which are OpenGL ES 3.0.
#pragma once

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>
#else
#include <glad/gl.h>
#endif
