#include "app/gui/views/timeline/draw_timeline_blocks.h"

#include <algorithm>
#include <cmath>

#include "analysis/query/trace_user_code.h"
#include "analysis/units/format.h"
#include "app/gui/core/answers.h"
#include "app/gui/look/block_name.h"
#include "app/gui/look/drawing.h"

namespace hbmscope::gui {
namespace {

constexpr float least_px = 3;  // Lower blocks have no edges: they would be all that is seen.

// A block in neighbouring columns in which it lies at the same height.
struct BlockBox {
  float left = 0, right = 0, top = 0, foot = 0;
};
BlockBox box_of(const TimelinePicture& picture, const StackedBands& bands, const StackBlocks& blocks,
                const PlacedBlock& placed, std::size_t column, std::size_t end) {
  const std::uint64_t foot = bands.top_of(static_cast<int>(column), placed.shade, placed.is_lit) - placed.depth;
  const Lane& lane = picture.memory;
  return {picture.left + static_cast<float>(column), picture.left + static_cast<float>(end),
          lane.y_of(static_cast<double>(foot + blocks.blocks()[placed.block].size)),
          lane.y_of(static_cast<double>(foot))};
}

// Calls visit(first column, end column) for the columns that show the same blocks at the same heights.
template <class Visit>
void for_equal_columns(const StackedBands& bands, const StackBlocks& blocks, const Visit& visit) {
  const std::vector<Composition>& pixels = bands.pixels();
  for (std::size_t x = 0; x < pixels.size();) {
    std::size_t end = x + 1;
    while (end < pixels.size() && blocks.are_equal(x, end) && pixels[end].bytes == pixels[x].bytes &&
           pixels[end].lit == pixels[x].lit)
      ++end;
    visit(x, end);
    x = end;
  }
}

}  // namespace

std::shared_ptr<const StackBlocks> shown_stack_blocks(const AppState& state, const StackedBands& bands) {
  const auto& blocks = state.answers().stack_blocks.value;
  const bool are_of_bands = blocks && blocks->query().course.get() == &bands.course() &&
                            blocks->query().span == bands.seen() && blocks->query().columns == bands.pixels().size();
  return are_of_bands && !blocks->blocks().empty() ? blocks : nullptr;
}

std::optional<std::uint32_t> block_at(const StackBlocks& blocks, const StackedBands& bands, int pixel, double bytes) {
  if (pixel < 0 || static_cast<std::size_t>(pixel) >= bands.pixels().size()) return std::nullopt;
  for (const PlacedBlock& one : blocks.at(static_cast<std::size_t>(pixel))) {
    const auto foot = static_cast<double>(bands.top_of(pixel, one.shade, one.is_lit) - one.depth);
    if (bytes >= foot && bytes < foot + static_cast<double>(blocks.blocks()[one.block].size)) return one.block;
  }
  return std::nullopt;
}

void draw_block_edges(PixelCanvas& draw, const Look& look, const TimelinePicture& picture, const StackedBands& bands,
                      const StackBlocks& blocks) {
  const ImU32 edge = look.role(Role::free, 0.55F);
  // Edges of blocks that live in a few pixels would be all that is seen of a trace that swings.
  constexpr std::size_t least_columns = 4;
  std::vector<std::size_t> columns_of(blocks.blocks().size(), 0);
  for (std::size_t x = 0; x < bands.pixels().size(); ++x)
    for (const PlacedBlock& one : blocks.at(x)) ++columns_of[one.block];
  // By block: where it lay in the columns before, so that only its ends have an upright edge.
  std::vector<std::size_t> seen_until(blocks.blocks().size(), 0);
  for_equal_columns(bands, blocks, [&](std::size_t x, std::size_t end) {
    for (const PlacedBlock& one : blocks.at(x)) {
      const BlockBox box = box_of(picture, bands, blocks, one, x, end);
      if (box.foot - box.top < least_px || columns_of[one.block] < least_columns) continue;
      draw.AddRectFilled({box.left, box.top}, {box.right, box.top + 1}, edge);
      if (seen_until[one.block] != x && x > 0) draw.AddRectFilled({box.left, box.top}, {box.left + 1, box.foot}, edge);
      seen_until[one.block] = end;
    }
  });
}

void draw_block_names(ImDrawList& draw, const AppState& state, const Look& look, const TimelinePicture& picture,
                      const StackedBands& bands, const StackBlocks& blocks) {
  const Stream& stream = state.source()->trace->streams[bands.course().query().heap.stream];
  const BlockLabels* labels = labels_of_stream(state, *state.source()->trace, bands.course().query().heap.stream);
  const HeapColoring coloring = bands.course().query().coloring;
  const float high = ImGui::GetTextLineHeight();
  std::vector<bool> is_named(blocks.blocks().size());
  for_equal_columns(bands, blocks, [&](std::size_t x, std::size_t end) {
    for (const PlacedBlock& one : blocks.at(x)) {
      if (is_named[one.block]) continue;
      const BlockBox box = box_of(picture, bands, blocks, one, x, end);
      if (box.foot - box.top < high || box.right - box.left < look.px(40)) continue;
      const LiveBlock& block = blocks.blocks()[one.block];
      const std::string size = text_from_bytes(static_cast<std::int64_t>(block.size));
      const std::string name = name_of_block(labels, stream.definitions(), block);
      const std::string words = name_that_fits(name, size, box.right - box.left - look.px(8));
      if (words.empty()) continue;
      is_named[one.block] = true;
      const Color fill = color_of_shade(look.theme, coloring, one.shade);
      const float y = (std::max(box.top, picture.memory.from.y) + box.foot - high) / 2;
      draw.AddText({box.left + look.px(4), std::floor(y)}, look.color(text_on(fill)), words.c_str());
    }
  });
}

void draw_block_contour(ImDrawList& draw, const Look& look, const TimelinePicture& picture, const StackedBands& bands,
                        const StackBlocks& blocks, std::uint32_t block, Role role) {
  const ImU32 ink = look.role(role);
  std::optional<BlockBox> last;
  const auto upright = [&](float x, float from, float to) { draw.AddRectFilled({x - 1, from}, {x + 1, to}, ink); };
  const auto close = [&] {
    if (last) upright(last->right, last->top, last->foot);
    last.reset();
  };
  for_equal_columns(bands, blocks, [&](std::size_t x, std::size_t end) {
    const auto placed = blocks.at(x);
    const auto found =
        std::find_if(placed.begin(), placed.end(), [&](const PlacedBlock& one) { return one.block == block; });
    if (found == placed.end()) return close();
    const BlockBox box = box_of(picture, bands, blocks, *found, x, end);
    draw.AddRectFilled({box.left, box.top - 1}, {box.right, box.top + 1}, ink);
    draw.AddRectFilled({box.left, box.foot - 1}, {box.right, box.foot + 1}, ink);
    if (!last) upright(box.left, box.top, box.foot);
    // Where what is below it was freed or allocated, it falls or rises.
    if (last && last->top != box.top) {
      upright(box.left, std::min(last->top, box.top), std::max(last->top, box.top));
      upright(box.left, std::min(last->foot, box.foot), std::max(last->foot, box.foot));
    }
    last = box;
  });
  close();
}

std::optional<std::uint32_t> find_block_in(const StackBlocks& blocks, int pixel, std::uint64_t address) {
  if (pixel < 0 || static_cast<std::size_t>(pixel) >= blocks.query().columns) return std::nullopt;
  for (const PlacedBlock& one : blocks.at(static_cast<std::size_t>(pixel))) {
    const LiveBlock& block = blocks.blocks()[one.block];
    if (block.has_address() && address - block.address < block.size) return one.block;
  }
  return std::nullopt;
}

}  // namespace hbmscope::gui
