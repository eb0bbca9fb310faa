// The live blocks of the moment one by one: a filter in the one language, any order, millions of rows of which only
// those on the screen are made. A click selects the block in all views.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

// The field in which blocks are looked for; the heap map shows it too.
struct BlockFilterState {
  std::string text, seen, error;
  std::uint64_t focus_seen = 0;
};

struct BlocksState {
  BlockFilterState filter;
  std::shared_ptr<const BlocksAnswer> followed;  // In which the selection was last looked for,
  HeapKey followed_heap;                         // and what it then was.
  std::optional<std::uint64_t> followed_address;
  std::uint64_t copy_seen = 0;
};

void draw_blocks(const AppState& state, BlocksState& blocks, CommandQueue& commands);

// `width` in pixels. A text that does not parse is not looked for; the reason is in its tooltip.
void draw_block_filter(const AppState& state, BlockFilterState& filter, float width, bool takes_focus,
                       CommandQueue& commands);

}  // namespace hbmscope::gui
