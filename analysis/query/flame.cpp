#include "analysis/query/flame.h"

#include <algorithm>

namespace hbmscope {
namespace {

// What a node is as wide as. Negative values (of profiles that are differences) have no width.
double value_of(const TreeNode& node, FlameValue value) {
  const std::int64_t number = value == FlameValue::bytes ? node.cum.bytes : node.cum.count + node.cum.unknown;
  return static_cast<double>(std::max<std::int64_t>(0, number));
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool contains(std::string_view text, std::string_view part) {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return lower(a) == lower(b); }) != text.end();
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
      // With negative siblings left out, the others could stick out of their parent: then they share its width.
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

void visible_flame_boxes(const FlameLayout& layout, double x_begin, double x_end, float width_px,
                         std::uint32_t first_row, std::uint32_t last_row, std::vector<FlameBox>& boxes) {
  boxes.clear();
  if (x_end <= x_begin || width_px <= 0) return;
  const double px = static_cast<double>(width_px) / (x_end - x_begin);
  for (std::size_t depth = first_row; depth < std::min<std::size_t>(last_row, layout.rows.size()); ++depth) {
    const std::vector<std::uint32_t>& nodes = layout.rows[depth];
    auto at =
        std::partition_point(nodes.begin(), nodes.end(), [&](std::uint32_t n) { return layout.end[n] <= x_begin; });
    double widest = 0;
    bool is_open = false;  // The last box is narrower than a pixel and takes in its neighbours until it isn't.
    while (at != nodes.end() && layout.begin[*at] < x_end) {
      const double x0 = std::max(0.0, (layout.begin[*at] - x_begin) * px);
      const double x1 = std::min(static_cast<double>(width_px), (layout.end[*at] - x_begin) * px);
      const double width = layout.end[*at] - layout.begin[*at];
      if (is_open && x1 - static_cast<double>(boxes.back().x0) <= 1.0) {
        FlameBox& box = boxes.back();
        box.x1 = static_cast<float>(x1);
        ++box.merged;
        if (width > widest) {
          widest = width;
          box.node = *at;
        }
      } else {
        boxes.push_back({*at, 1, static_cast<std::uint32_t>(depth), static_cast<float>(x0), static_cast<float>(x1)});
        widest = width;
        is_open = x1 - x0 < 1.0;
      }
      // Dust: jump to the first node that ends beyond this pixel, counting what is passed over.
      if (is_open) {
        const double pixel_end = x_begin + (static_cast<double>(boxes.back().x0) + 1.0) / px;
        const auto next =
            std::partition_point(at + 1, nodes.end(), [&](std::uint32_t n) { return layout.end[n] <= pixel_end; });
        const auto passed = static_cast<std::uint32_t>(next - (at + 1));
        if (passed > 0) {
          boxes.back().merged += passed;
          boxes.back().x1 = static_cast<float>((layout.end[*(next - 1)] - x_begin) * px);
        }
        at = next;
      } else {
        ++at;
      }
    }
  }
  for (FlameBox& box : boxes) {
    if (box.x1 - box.x0 >= 1.0F) continue;
    box.x1 = std::min(width_px, box.x0 + 1.0F);
    box.x0 = std::max(0.0F, std::min(box.x0, width_px - 1.0F));
  }
}

FlameSearch search_flame(const ProfileView& view, const CallTree& tree, std::string_view text) {
  FlameSearch search;
  search.hit.assign(tree.nodes.size(), false);
  if (text.empty()) return search;
  std::vector<bool> frame_hit(view.frames.size());
  for (std::size_t i = 0; i < view.frames.size(); ++i)
    frame_hit[i] = contains(view.frames[i].function, text) || contains(view.frames[i].file, text);
  // A parent's number is smaller than its children's: whether an ancestor was hit is known when a node is reached.
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
