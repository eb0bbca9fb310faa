// For Dear ImGui's OpenGL backend in a page, included before it. The backend saves OpenGL's state around all that it
// draws; in a browser each such query waits until everything before it is drawn. Nothing else in the page draws with
// ImGui's state, so the queries of each frame return the values of a new context (OpenGL ES 3.0, chapter 6.2).
#pragma once

#include <GLES3/gl3.h>

inline void hbmscope_get_state(GLenum name, GLint* value) {
  switch (name) {
    case GL_ACTIVE_TEXTURE: *value = GL_TEXTURE0; return;
    case GL_BLEND_SRC_RGB:
    case GL_BLEND_SRC_ALPHA: *value = GL_ONE; return;
    case GL_BLEND_EQUATION_RGB:
    case GL_BLEND_EQUATION_ALPHA: *value = GL_FUNC_ADD; return;
    case GL_UNPACK_ALIGNMENT: *value = 4; return;
    case GL_VIEWPORT:
    case GL_SCISSOR_BOX: value[0] = value[1] = value[2] = value[3] = 0; return;
    case GL_BLEND_DST_RGB:
    case GL_BLEND_DST_ALPHA:
    case GL_CURRENT_PROGRAM:
    case GL_TEXTURE_BINDING_2D:
    case GL_SAMPLER_BINDING:
    case GL_ARRAY_BUFFER_BINDING:
    case GL_ELEMENT_ARRAY_BUFFER_BINDING:
    case GL_VERTEX_ARRAY_BINDING:
    case GL_PIXEL_UNPACK_BUFFER_BINDING:
    case GL_UNPACK_ROW_LENGTH: *value = 0; return;
    default: glGetIntegerv(name, value);
  }
}

inline GLboolean hbmscope_get_switch(GLenum) {
  return GL_FALSE;
}

#define glGetIntegerv hbmscope_get_state
#define glIsEnabled hbmscope_get_switch
