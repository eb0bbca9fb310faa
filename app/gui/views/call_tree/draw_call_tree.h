// The stacks as a tree, from the outermost frame down or from the innermost up. Only open nodes cost time. Initially
// the path to the largest stack is open.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct CallTreeState {
  std::shared_ptr<const TreeAnswer> answer;  // The answer that the rest refers to.
  std::vector<bool> open;                    // By node.
  std::vector<std::uint32_t> rows;           // The visible nodes, from top to bottom.
  std::string find;                          // The search text for which nodes were opened.
  std::uint64_t copy_seen = 0;
};

void draw_call_tree(const AppState& state, CallTreeState& tree, CommandQueue& commands);

}  // namespace hbmscope::gui
