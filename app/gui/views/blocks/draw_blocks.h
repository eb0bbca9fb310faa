// The live blocks at the current time, one by one: filtered, in any order, millions of rows of which only the visible
// ones are made. A click selects the block in all views.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The text field that finds blocks; the heap map shows it too.
struct BlockFilterState {
  std::string text, seen, error;
  std::uint64_t focus_seen = 0;
};

struct BlocksState {
  BlockFilterState filter;
  std::shared_ptr<const BlocksAnswer> followed;  // In which the selection was last searched,
  HeapKey followed_heap;                         // and what it then was.
  std::optional<std::uint64_t> followed_address;
  std::uint64_t copy_seen = 0;
};

void draw_blocks(const AppState& state, BlocksState& blocks, CommandQueue& commands);

// `width` in pixels. A text that does not parse is not applied; the reason is in its tooltip.
void draw_block_filter(const AppState& state, BlockFilterState& filter, float width, bool takes_focus,
                       CommandQueue& commands);

}  // namespace hbmscope::gui
