// The geometry of the flame graph. Every node of a call tree becomes an interval of [0, 1) in the row of its depth.
// Nodes narrower than a pixel are merged before drawing, so a frame costs only as much as it shows: 100,000 nodes at
// 1,600 px are at most 1,600 boxes per row.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/query/call_tree.h"

namespace hbmscope {

enum class FlameValue { bytes, count };

struct FlameLayout {
  FlameValue value = FlameValue::bytes;
  // Row d holds the nodes of depth d from left to right; a node's children lie within its interval, largest first.
  std::vector<std::vector<std::uint32_t>> rows;
  std::vector<double> begin, end;  // By node, as fractions of the root's value; empty intervals for nodes of value 0.
};

FlameLayout compute_flame_layout(const CallTree& tree, FlameValue value);

// A box to draw, in pixels from the left edge of the window [x_begin, x_end) of the layout.
struct FlameBox {
  std::uint32_t node = no_node;  // The widest of the merged nodes (of the first 64, if there are more).
  std::uint32_t merged = 1;      // How many nodes it represents.
  std::uint32_t depth = 0;
  float x0 = 0, x1 = 0;
};

// The boxes of the rows [first_row, last_row): at most width_px per row, each at least one pixel wide, without
// overlaps. Every visible node is part of one of them.
void visible_flame_boxes(const FlameLayout& layout, double x_begin, double x_end, float width_px,
                         std::uint32_t first_row, std::uint32_t last_row, std::vector<FlameBox>& boxes);

// The nodes whose frame has `text` in its function or file (ignoring case), and the bytes that flow through any of
// them, each stack counted once.
struct FlameSearch {
  std::vector<bool> hit;
  Weight matched;
};
FlameSearch search_flame(const ProfileView& view, const CallTree& tree, std::string_view text);

}  // namespace hbmscope
