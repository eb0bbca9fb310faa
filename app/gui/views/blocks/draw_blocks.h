// The table of live blocks at the current time, filtered and sorted. It can have millions of rows; only the visible
// ones are built. A click selects the block in all views.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The search field for blocks, shared with the heap map.
struct BlockFilterState {
  std::string text, seen, error;
  std::uint64_t focus_seen = 0;
};

struct BlocksState {
  BlockFilterState filter;
  std::shared_ptr<const BlocksAnswer> followed;  // The answer in which the selection was last searched,
  HeapKey followed_heap;                         // and its heap at that time.
  std::optional<std::uint64_t> followed_address;
  std::uint64_t copy_seen = 0;
};

void draw_blocks(const AppState& state, BlocksState& blocks, CommandQueue& commands);

// `width` in px. Text that does not parse is not applied; the tooltip says why.
void draw_block_filter(const AppState& state, BlockFilterState& filter, float width, bool takes_focus,
                       CommandQueue& commands);

}  // namespace hbmscope::gui
