// The flame graph: from the root down, your frames in colour by file, library frames grey and folded. The wheel zooms
// at the pointer, a double click zooms to a frame, crumbs lead back.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FlameState {
  // The visible part of the layout's [0, 1).
  double begin = 0, end = 1;
  std::shared_ptr<const FlameAnswer> answer;  // What begin and end were set for,
  std::vector<FrameKey> zoom;                 // with this zoom,
  std::uint64_t zoom_seen = 0;                // at this command.
  std::uint32_t zoom_node = 0;
  std::vector<FlameBox> boxes;              // Kept between frames for its memory.
  Frame menu_frame;                         // Under the last right click.
  std::size_t hovered_hue = hue_count + 1;  // Of the legend; beyond: none.
  std::uint64_t copy_seen = 0, step_seen = 0;
  std::vector<std::uint32_t> hits;  // Nodes for F3, in reading order.
  std::shared_ptr<const SearchAnswer> hits_of;
  std::size_t hit = 0;
  std::uint32_t target = no_node;  // The frame of F3, or one selected elsewhere, to scroll to.
  FrameKey shown;                  // The selection that was last scrolled to.
};

void draw_flame_graph(const AppState& state, FlameState& flame, CommandQueue& commands);

}  // namespace hbmscope::gui
