#include "analysis/query/flame.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

CallTree tree_of(const ProfileView& view) {
  return *compute_call_tree(view, TreeDirection::callees);
}

std::vector<FlameBox> boxes_of(const FlameLayout& layout, double begin, double end, float width) {
  std::vector<FlameBox> boxes;
  visible_flame_boxes(layout, begin, end, width, 0, static_cast<std::uint32_t>(layout.rows.size()), boxes);
  return boxes;
}

// The guarantees of the header for any window: at most width_px boxes per row, each at least a pixel wide and next to
// each other, and every visible node in exactly one of them, within a pixel of its position.
void expect_rows_hold(const FlameLayout& layout, double begin, double end, float width) {
  const std::vector<FlameBox> boxes = boxes_of(layout, begin, end, width);
  const double px = static_cast<double>(width) / (end - begin);
  std::size_t at = 0;
  for (std::uint32_t depth = 0; depth < layout.rows.size(); ++depth) {
    std::size_t in_sight = 0, counted = 0, count = 0;
    float previous_end = 0;
    const std::size_t first = at;
    for (; at < boxes.size() && boxes[at].depth == depth; ++at, ++count) {
      EXPECT_GE(boxes[at].x0, previous_end - 0.01F);
      EXPECT_GE(boxes[at].x1 - boxes[at].x0, std::min(1.0F, width) - 0.01F);
      EXPECT_LE(boxes[at].x1, width + 0.01F);
      previous_end = boxes[at].x1;
      counted += boxes[at].merged;
    }
    EXPECT_LE(count, static_cast<std::size_t>(std::max(1.0F, width)));
    std::size_t box = first;
    for (const std::uint32_t node : layout.rows[depth]) {
      if (layout.end[node] <= begin || layout.begin[node] >= end) continue;
      ++in_sight;
      const double middle = (std::max(begin, layout.begin[node]) + std::min(end, layout.end[node])) / 2 - begin;
      while (box < at && static_cast<double>(boxes[box].x1) + 1.01 < middle * px) ++box;
      ASSERT_LT(box, at) << "a node is in no box";
      EXPECT_GE(middle * px, static_cast<double>(boxes[box].x0) - 1.01) << "a node lies in a gap";
    }
    EXPECT_EQ(counted, in_sight) << "depth " << depth;
  }
  EXPECT_EQ(at, boxes.size());
}

TEST(FlameLayout, children_lie_in_their_parent_largest_first_and_have_their_share) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const CallTree tree = tree_of(view_of(random_profile(seed)));
    for (const FlameValue value : {FlameValue::bytes, FlameValue::count}) {
      const FlameLayout layout = compute_flame_layout(tree, value);
      const auto value_of = [&](std::uint32_t n) {
        const Weight& w = tree.nodes[n].cum;
        return static_cast<double>(value == FlameValue::bytes ? w.bytes : w.count + w.unknown);
      };
      for (std::uint32_t depth = 1; depth < layout.rows.size(); ++depth) {
        std::uint32_t previous = no_node;
        for (const std::uint32_t node : layout.rows[depth]) {
          const std::uint32_t parent = tree.nodes[node].parent;
          EXPECT_EQ(tree.nodes[node].depth, depth);
          EXPECT_GE(layout.begin[node], layout.begin[parent] - 1e-12);
          EXPECT_LE(layout.end[node], layout.end[parent] + 1e-12);
          EXPECT_NEAR(layout.end[node] - layout.begin[node], value_of(node) / value_of(0), 1e-9);
          if (previous != no_node) {
            EXPECT_GE(layout.begin[node], layout.end[previous] - 1e-12);
            EXPECT_TRUE(tree.nodes[previous].parent != parent || value_of(previous) >= value_of(node));
          }
          previous = node;
        }
      }
    }
  }
}

TEST(FlameLayout, nothing_has_no_box) {
  const FlameLayout layout = compute_flame_layout(tree_of(view_of(ProfileBuilder())), FlameValue::bytes);
  EXPECT_TRUE(boxes_of(layout, 0, 1, 1600).empty());
  const FlameLayout zero = compute_flame_layout(tree_of(view_of(ProfileBuilder().sample("f", 0))), FlameValue::bytes);
  EXPECT_TRUE(boxes_of(zero, 0, 1, 1600).empty());
}

TEST(FlameLayout, negative_values_of_a_difference_do_not_push_others_out) {
  const CallTree tree = tree_of(view_of(ProfileBuilder().sample("main;a", 100).sample("main;b", -60)));
  const FlameLayout layout = compute_flame_layout(tree, FlameValue::bytes);
  for (std::size_t node = 0; node < tree.nodes.size(); ++node) EXPECT_LE(layout.end[node], 1.0 + 1e-12);
}

TEST(FlameBoxes, hold_every_node_of_random_trees_in_any_window) {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const FlameLayout layout = compute_flame_layout(tree_of(view_of(random_profile(seed))), FlameValue::bytes);
    for (const float width : {0.5F, 1.0F, 3.7F, 40.0F, 1600.0F})
      for (const auto& [begin, end] : {std::pair{0.0, 1.0}, std::pair{0.2, 0.3}, std::pair{0.99, 1.0}})
        expect_rows_hold(layout, begin, end, width);
  }
}

// A row of `count` siblings with widths drawn from `width_of`.
FlameLayout one_row(std::size_t count, const std::function<double(std::size_t)>& width_of) {
  FlameLayout layout;
  layout.rows.resize(1);
  double at = 0, sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += width_of(i);
  for (std::size_t i = 0; i < count; ++i) {
    layout.rows[0].push_back(static_cast<std::uint32_t>(i));
    layout.begin.push_back(at / sum);
    at += width_of(i);
    layout.end.push_back(at / sum);
  }
  return layout;
}

TEST(FlameBoxes, a_row_never_has_more_boxes_than_pixels) {
  // Tiny boxes next to boxes that are exactly a pixel wide: two boxes per pixel if each is considered separately.
  expect_rows_hold(one_row(3000, [](std::size_t i) { return i % 2 == 0 ? 0.01 : 1.0; }), 0, 1, 1515);
  expect_rows_hold(one_row(100, [](std::size_t) { return 1.0; }), 0, 1, 100);
  expect_rows_hold(one_row(101, [](std::size_t) { return 1.0; }), 0, 1, 100);
  expect_rows_hold(one_row(100, [](std::size_t i) { return i == 0 ? 1000.0 : 0.001; }), 0, 1, 1600);
  std::mt19937 random(7);
  expect_rows_hold(
      one_row(20'000, [&](std::size_t) { return std::pow(static_cast<double>(random() % 1000) / 1000, 8); }), 0, 1,
      1600);
}

TEST(FlameBoxes, a_hundred_thousand_nodes_are_at_most_a_pixel_each) {
  const FlameLayout layout = one_row(100'000, [](std::size_t i) { return 1.0 / static_cast<double>(i + 1); });
  expect_rows_hold(layout, 0, 1, 1600);
  std::size_t merged = 0;
  for (const FlameBox& box : boxes_of(layout, 0, 1, 1600)) merged += box.merged;
  EXPECT_EQ(merged, 100'000U);
}

TEST(FlameBoxes, merged_dust_is_named_by_its_widest) {
  const FlameLayout layout = one_row(4, [](std::size_t i) { return i == 0 ? 1000.0 : i == 2 ? 0.3 : 0.1; });
  const std::vector<FlameBox> boxes = boxes_of(layout, 0, 1, 1000);
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_EQ(boxes[1].merged, 3U);
  EXPECT_EQ(boxes[1].node, 2U);
}

TEST(FlameSearch, a_stack_is_matched_once_and_case_does_not_matter) {
  const ProfileView view =
      view_of(ProfileBuilder().sample("main;Adam;adam_step", 10).sample("main;sgd@adam.py:3", 5).sample("main;x", 1));
  const CallTree tree = tree_of(view);
  EXPECT_EQ(search_flame(view, tree, "adam").matched.bytes, 15);
  EXPECT_EQ(search_flame(view, tree, "ADAM_STEP").matched.bytes, 10);
  EXPECT_EQ(search_flame(view, tree, "").matched.bytes, 0);
  const FlameSearch found = search_flame(view, tree, "adam");
  EXPECT_EQ(std::count(found.hit.begin(), found.hit.end(), true), 3);
}

}  // namespace
}  // namespace hbmscope
