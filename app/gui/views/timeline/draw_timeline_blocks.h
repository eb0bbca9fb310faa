// The single blocks inside the bands of the timeline: their edges, their names where there is room, the one under the
// pointer and the selected one.
#pragma once

#include <memory>
#include <optional>

#include "app/gui/core/stack_blocks.h"
#include "app/gui/views/timeline/draw_timeline_stack.h"

namespace hbmscope::gui {

// The blocks of the shown bands. Null if they are not known (yet), or nothing is large enough.
std::shared_ptr<const StackBlocks> shown_stack_blocks(const AppState& state, const StackedBands& bands);

// The block at a height above the lane's foot, in bytes.
std::optional<std::uint32_t> block_at(const StackBlocks& blocks, const StackedBands& bands, int pixel, double bytes);

// The edges of the blocks, drawn over the bands.
void draw_block_edges(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const StackedBands& bands,
                      const StackBlocks& blocks);
// Names, in the first place of a block that is wide and high enough.
void draw_block_names(ImDrawList& draw, const AppState& state, const Look& look, const TimelinePicture& picture,
                      const StackedBands& bands, const StackBlocks& blocks);
// The contour of one block over its visible life.
void draw_block_contour(ImDrawList& draw, const Look& look, const TimelinePicture& picture, const StackedBands& bands,
                        const StackBlocks& blocks, std::uint32_t block, Role role);

// The block at an address in the column.
std::optional<std::uint32_t> find_block_in(const StackBlocks& blocks, int pixel, std::uint64_t address);

}  // namespace hbmscope::gui
