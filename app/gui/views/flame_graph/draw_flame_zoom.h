// The visible part of a flame graph, and how pointer and keys change it. Zooming keeps the point under the pointer in
// place.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/views/flame_graph/draw_flame_graph.h"

namespace hbmscope::gui {

// Resets begin and end after a zoom command, for a new tree, or when Back restored another zoom.
void follow_zoom(const AppState& state, const std::shared_ptr<const FlameAnswer>& answer, FlameState& flame);

// Wheel: zoom (with Ctrl in large steps). Shift+wheel, horizontal wheel and dragging: pan. `left` is the left edge of
// the picture.
void zoom_with_pointer(FlameState& flame, float width, float left);

// W, S: in and out; A, D: left and right.
void zoom_with_keys(FlameState& flame);

// F3 and Shift+F3.
void step_through_hits(const AppState& state, const FlameAnswer& answer, FlameState& flame, CommandQueue& commands);

// Scrolls to the frame that was selected in another view or by F3. Call it inside the picture's window.
void follow_selection(const AppState& state, const FlameAnswer& answer, FlameState& flame, float row_height);

std::vector<FrameKey> path_of(const FlameAnswer& answer, std::uint32_t node);

}  // namespace hbmscope::gui
