#include "app/gui/look/editor_item.h"

#include <imgui.h>

#include "app/gui/core/code_places.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {

void draw_editor_item(const AppState& state, const FrameKey& frame, CommandQueue& commands) {
  if (state.host == Host::browser) return;  // It can't start an editor.
  if (!frame.file.empty() && !state.code_places.contains({state.position().source, frame.file}))
    commands.push(command::look_for_code, frame);
  const std::string why = why_no_editor(state, frame);
  if (ImGui::MenuItem("Open in editor", nullptr, false, why.empty())) commands.push(command::open_in_editor, frame);
  tooltip(why.empty() ? state.editor : why);
}

}  // namespace hbmscope::gui
