#include "app/gui/platform/picture_copier.h"
#include "app/gui/platform/gl.h"

namespace hbmscope::gui {

PictureCopier::~PictureCopier() {
  if (framebuffer_ != 0) glDeleteFramebuffers(1, &framebuffer_);
}

void PictureCopier::copy(const OpaquePicture& picture, const PixelBox& box, const ImDrawData& frame) {
  const ImDrawCmd& command = frame.CmdLists[static_cast<int>(picture.list)]->CmdBuffer[picture.command];
  if (framebuffer_ == 0) glGenFramebuffers(1, &framebuffer_);
  glBindFramebuffer(GL_READ_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_READ_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D,
                         static_cast<GLuint>(command.GetTexID()), 0);
  // The texture's rows and the framebuffer's are both counted from the bottom.
  const int height = static_cast<int>(frame.DisplaySize.y * frame.FramebufferScale.y + 0.5F);
  const int left = picture.texture_left + box.left - picture.box.left;
  const int bottom = picture.texture_bottom + picture.box.bottom - box.bottom;
  const int width_of_box = box.right - box.left, height_of_box = box.bottom - box.top;
  glDisable(GL_SCISSOR_TEST);
  glBlitFramebuffer(left, bottom, left + width_of_box, bottom + height_of_box, box.left, height - box.bottom, box.right,
                    height - box.top, GL_COLOR_BUFFER_BIT, GL_NEAREST);
}

}  // namespace hbmscope::gui
