// Dear ImGui and ImPlot on a GlWindow: contexts, fonts, the two backends.
#pragma once

#include <cstdint>
#include <memory>

#include <imgui.h>

#include "analysis/model/result.h"
#include "app/gui/platform/changed_parts.h"
#include "app/gui/platform/gl_window.h"
#include "app/gui/platform/picture_copier.h"

namespace hbmscope::gui {

class ImGuiHost {
 public:
  static Result<std::unique_ptr<ImGuiHost>> start(const GlWindow& window);
  ~ImGuiHost();
  ImGuiHost(const ImGuiHost&) = delete;
  ImGuiHost& operator=(const ImGuiHost&) = delete;

  void begin_frame();
  // Draws the changes onto the bound target, which holds the previous frame. Returns the number of pixels drawn.
  std::uint64_t end_frame(const ImVec4& background);
  // Call it when another target is bound or the target's content is lost.
  void forget_frame() { changed_.forget(); }

 private:
  ImGuiHost() = default;

  ChangedParts changed_;
  PictureCopier copier_;
  std::uint32_t background_ = 0;
};

}  // namespace hbmscope::gui
