// The flame graph: from the root down, your frames coloured by file, library frames grey and folded. The wheel zooms at
// the pointer, a double click zooms to a frame, breadcrumbs lead back.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FlameState {
  // The visible part of the layout's [0, 1).
  double begin = 0, end = 1;
  std::shared_ptr<const FlameAnswer> answer;  // begin and end refer to this answer,
  std::vector<FrameKey> zoom;                 // this zoom
  std::uint64_t zoom_seen = 0;                // and this zoom command.
  std::uint32_t zoom_node = 0;
  std::vector<FlameBox> boxes;              // Kept between frames to reuse its memory.
  Frame menu_frame;                         // The frame of the last right click.
  std::size_t hovered_hue = hue_count + 1;  // The hovered hue of the legend; hue_count + 1: none.
  std::uint64_t copy_seen = 0, step_seen = 0;
  std::vector<std::uint32_t> hits;  // Nodes that match Find, in reading order, for F3.
  std::shared_ptr<const SearchAnswer> hits_of;
  std::size_t hit = 0;
  std::uint32_t target = no_node;  // The node to scroll to: the F3 hit, or a frame selected in another view.
  FrameKey shown;                  // The selection that the view last scrolled to.
};

void draw_flame_graph(const AppState& state, FlameState& flame, CommandQueue& commands);

}  // namespace hbmscope::gui
