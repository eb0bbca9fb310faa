// The flame graph: from the root down, the person's own frames in colour by file, library frames grey and folded.
// Zoomed with the wheel at the pointer or by double-clicking a frame; crumbs lead back.
#pragma once

#include <memory>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct FlameState {
  // What is seen of the layout's [0, 1).
  double begin = 0, end = 1;
  std::shared_ptr<const FlameAnswer> answer;  // What begin and end were set for,
  std::vector<FrameKey> zoom;                 // with this zoom,
  std::uint64_t zoom_seen = 0;                // at this command.
  std::uint32_t zoom_node = 0;
  std::vector<FlameBox> boxes;              // Kept between frames for its memory.
  Frame menu_frame;                         // What a right click was over.
  std::size_t hovered_hue = hue_count + 1;  // Of the legend; beyond: none.
  std::uint64_t copy_seen = 0, step_seen = 0;
  std::vector<std::uint32_t> hits;  // Nodes for F3, in reading order.
  std::shared_ptr<const SearchAnswer> hits_of;
  std::size_t hit = 0;
  std::uint32_t target = no_node;  // Where F3 or a selection made elsewhere wants to be seen.
  FrameKey shown;                  // The selection that was last brought into sight.
};

void draw_flame_graph(const AppState& state, FlameState& flame, CommandQueue& commands);

}  // namespace hbmscope::gui
