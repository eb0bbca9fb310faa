// What is seen of a flame graph, and how pointer and keys change it: the fraction under the pointer stays under the
// pointer.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/views/flame_graph/draw_flame_graph.h"

namespace hbmscope::gui {

// Sets begin and end anew after a zoom command, for another tree, or when Alt+Left brought another zoom back.
void follow_zoom(const AppState& state, const std::shared_ptr<const FlameAnswer>& answer, FlameState& flame);

// Wheel: zoom (Ctrl: in large steps); Shift+wheel, sideways and dragging: pan. `left` is the picture's left edge.
void zoom_with_pointer(FlameState& flame, float width, float left);

// W, S: in and out; A, D: left and right.
void zoom_with_keys(FlameState& flame);

// F3 and Shift+F3.
void step_through_hits(const AppState& state, const FlameAnswer& answer, FlameState& flame, CommandQueue& commands);

// Brings the row of what was selected elsewhere, or stepped to, into sight. To be called inside the picture's window.
void follow_selection(const AppState& state, const FlameAnswer& answer, FlameState& flame, float row_height);

std::vector<FrameKey> path_of(const FlameAnswer& answer, std::uint32_t node);

}  // namespace hbmscope::gui
