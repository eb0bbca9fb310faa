#include "analysis/query/flame.h"

#include <algorithm>

#include "analysis/units/contains.h"

namespace hbmscope {
namespace {

// The width of a node. Negative values (in profiles that are differences) have no width.
double value_of(const TreeNode& node, FlameValue value) {
  const std::int64_t number = value == FlameValue::bytes ? node.cum.bytes : node.cum.count + node.cum.unknown;
  return static_cast<double>(std::max<std::int64_t>(0, number));
}

}  // namespace

FlameLayout compute_flame_layout(const CallTree& tree, FlameValue value) {
  FlameLayout layout;
  layout.value = value;
  layout.begin.assign(tree.nodes.size(), 0);
  layout.end.assign(tree.nodes.size(), 0);
  layout.rows.resize(tree.max_depth + 1);
  if (tree.nodes.empty() || value_of(tree.nodes[0], value) <= 0) return layout;
  layout.end[0] = 1;
  layout.rows[0].push_back(0);
  std::vector<std::uint32_t> children;
  for (std::size_t depth = 0; depth + 1 < layout.rows.size(); ++depth) {
    for (const std::uint32_t parent : layout.rows[depth]) {
      children.clear();
      double sum = 0;
      for (std::uint32_t child = tree.nodes[parent].first_child; child != no_node;
           child = tree.nodes[child].next_sibling) {
        if (value_of(tree.nodes[child], value) <= 0) continue;
        children.push_back(child);
        sum += value_of(tree.nodes[child], value);
      }
      if (value == FlameValue::count)
        std::stable_sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
          return value_of(tree.nodes[a], value) > value_of(tree.nodes[b], value);
        });
      // Negative siblings have no width, so the others may add up to more than their parent: scale them to fit.
      const double width = layout.end[parent] - layout.begin[parent];
      const double scale = width / std::max(sum, value_of(tree.nodes[parent], value));
      double at = layout.begin[parent];
      for (const std::uint32_t child : children) {
        layout.begin[child] = at;
        at += value_of(tree.nodes[child], value) * scale;
        layout.end[child] = at;
        layout.rows[depth + 1].push_back(child);
      }
    }
  }
  return layout;
}

namespace {

// Builds the boxes of one row, left to right. Each box begins at least a pixel after the previous one, so there are
// never more than fit. Nodes narrower than a pixel join the box at their pixel.
class RowBoxes {
 public:
  RowBoxes(const FlameLayout& layout, double x_begin, double x_end, double width_px, std::vector<FlameBox>& boxes)
      : layout_(layout), x_begin_(x_begin), px_(width_px / (x_end - x_begin)), width_px_(width_px), boxes_(boxes) {}

  void add_row(std::uint32_t depth, const std::vector<std::uint32_t>& nodes, double x_end) {
    const std::size_t row_begin = boxes_.size();
    auto at =
        std::partition_point(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return layout_.end[n] <= x_begin_; });
    while (at != nodes.end() && layout_.begin[*at] < x_end) {
      const double x1 = std::min(width_px_, pixel(layout_.end[*at]));
      const bool is_first = boxes_.size() == row_begin;
      if (!is_first && (x1 <= pixel_end() || pixel_end() > width_px_ - 1)) {
        join(*at, x1);
        ++at;
        continue;
      }
      double x0 = std::max(is_first ? 0.0 : pixel_end(), pixel(layout_.begin[*at]));
      x0 = std::max(0.0, std::min(x0, width_px_ - 1));  // Tiny nodes at the right edge get the last pixel.
      if (!is_first) boxes_.back().x1 = std::min(boxes_.back().x1, static_cast<float>(x0));
      boxes_.push_back({*at, 1, depth, static_cast<float>(x0), static_cast<float>(x1)});
      widest_ = layout_.end[*at] - layout_.begin[*at];
      at = x1 - x0 < 1.0 ? pass_over_dust(at + 1, nodes.end(), x_end) : at + 1;
    }
    for (std::size_t i = row_begin; i < boxes_.size(); ++i) {
      FlameBox& box = boxes_[i];
      box.x1 = std::max(box.x1, box.x0 + 1.0F);
      if (box.x1 <= static_cast<float>(width_px_)) continue;
      box.x1 =
          static_cast<float>(width_px_);  // Only the last box, or the only one of a row that begins in its last pixel.
      box.x0 = std::max(0.0F, std::min(box.x0, box.x1 - 1.0F));
    }
  }

 private:
  using NodeIt = std::vector<std::uint32_t>::const_iterator;

  double pixel(double x) const { return (x - x_begin_) * px_; }
  double pixel_end() const { return static_cast<double>(boxes_.back().x0) + 1.0; }

  void join(std::uint32_t node, double x1) {
    FlameBox& box = boxes_.back();
    ++box.merged;
    box.x1 = std::max(box.x1, static_cast<float>(x1));
    const double width = layout_.end[node] - layout_.begin[node];
    if (width <= widest_) return;
    widest_ = width;
    box.node = node;
  }

  // Advances to the first node that ends beyond this pixel. All skipped nodes are counted, but only the first few are
  // compared: siblings begin with the widest.
  NodeIt pass_over_dust(NodeIt at, NodeIt end, double x_end) {
    const auto next = std::partition_point(
        at, end, [&](std::uint32_t n) { return layout_.begin[n] < x_end && pixel(layout_.end[n]) <= pixel_end(); });
    constexpr std::ptrdiff_t few = 64;
    for (const NodeIt looked_at = at + std::min(few, next - at); at != looked_at; ++at)
      join(*at, pixel(layout_.end[*at]));
    if (at == next) return next;
    boxes_.back().merged += static_cast<std::uint32_t>(next - at);
    boxes_.back().x1 = std::max(boxes_.back().x1, static_cast<float>(pixel(layout_.end[*(next - 1)])));
    return next;
  }

  const FlameLayout& layout_;
  double x_begin_, px_, width_px_, widest_ = 0;
  std::vector<FlameBox>& boxes_;
};

}  // namespace

void visible_flame_boxes(const FlameLayout& layout, double x_begin, double x_end, float width_px,
                         std::uint32_t first_row, std::uint32_t last_row, std::vector<FlameBox>& boxes) {
  boxes.clear();
  if (x_end <= x_begin || width_px <= 0) return;
  RowBoxes row_boxes(layout, x_begin, x_end, static_cast<double>(width_px), boxes);
  for (std::size_t depth = first_row; depth < std::min<std::size_t>(last_row, layout.rows.size()); ++depth)
    row_boxes.add_row(static_cast<std::uint32_t>(depth), layout.rows[depth], x_end);
}

FlameSearch search_flame(const ProfileView& view, const CallTree& tree, std::string_view text) {
  FlameSearch search;
  search.hit.assign(tree.nodes.size(), false);
  if (text.empty()) return search;
  std::vector<bool> frame_hit(view.frames.size());
  for (std::size_t i = 0; i < view.frames.size(); ++i)
    frame_hit[i] =
        contains_ignoring_case(view.frames[i].function, text) || contains_ignoring_case(view.frames[i].file, text);
  // Parents have smaller numbers than their children, so it is known whether an ancestor was hit when a node is
  // reached.
  std::vector<bool> above(tree.nodes.size());
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    search.hit[i] = frame_hit[row(node.frame)];
    above[i] = above[node.parent] || search.hit[i];
    if (search.hit[i] && !above[node.parent]) search.matched += node.cum;
  }
  return search;
}

}  // namespace hbmscope
