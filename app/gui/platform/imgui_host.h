// Dear ImGui and ImPlot on a GlWindow: contexts, fonts, the two backends.
#pragma once

#include <memory>

#include "analysis/model/result.h"
#include "app/gui/platform/gl_window.h"

namespace hbmscope::gui {

class ImGuiHost {
 public:
  static Result<std::unique_ptr<ImGuiHost>> start(const GlWindow& window);
  ~ImGuiHost();
  ImGuiHost(const ImGuiHost&) = delete;
  ImGuiHost& operator=(const ImGuiHost&) = delete;

  void begin_frame();
  void end_frame();  // Draws onto what is bound.

 private:
  ImGuiHost() = default;
};

}  // namespace hbmscope::gui
