// The table of live blocks at the current time, filtered and sorted. It can have millions of rows; only the visible
// ones are built. A click selects the block in all views.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/gui/core/app_state.h"
#include "app/gui/core/commands.h"

namespace hbmscope::gui {

struct BlocksState {
  std::shared_ptr<const BlocksAnswer> followed;  // The answer in which the selection was last searched,
  HeapKey followed_heap;                         // and its heap at that time.
  std::optional<std::uint64_t> followed_address;
  std::optional<std::uint32_t> focused_row;  // A row of the table, by the keyboard or a click.
  std::uint64_t copy_seen = 0;
};

void draw_blocks(const AppState& state, BlocksState& blocks, CommandQueue& commands);

}  // namespace hbmscope::gui
