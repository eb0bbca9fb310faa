#include "analysis/query/call_tree.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/analysis/naive.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

std::map<std::vector<std::string>, NaiveSums> by_path(const ProfileView& view, const CallTree& tree) {
  std::map<std::vector<std::string>, NaiveSums> sums;
  for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
    std::vector<std::string> path;
    for (const FrameIndex frame : tree.path(node)) path.push_back(text_of(view.frames[row(frame)]));
    EXPECT_TRUE(sums.try_emplace(path, NaiveSums{tree.nodes[node].flat, tree.nodes[node].cum}).second);
  }
  return sums;
}

std::vector<std::string> children_of(const ProfileView& view, const CallTree& tree, std::uint32_t node) {
  std::vector<std::string> names;
  for (std::uint32_t child = tree.nodes[node].first_child; child != no_node; child = tree.nodes[child].next_sibling)
    names.push_back(view.frames[row(tree.nodes[child].frame)].function);
  return names;
}

TEST(CallTree, equals_the_naive_tree_in_both_directions) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const auto profile = random_profile(seed).build();
    for (const FrameBy by : {FrameBy::function, FrameBy::line}) {
      for (const char* where : {"", "kind:buffer"}) {
        const ProfileView view = view_of(profile, {.where = where, .by = by});
        std::vector<NaiveSample> samples = naive_samples(view);
        EXPECT_EQ(by_path(view, *compute_call_tree(view, TreeDirection::callees)), naive_tree(samples));
        for (NaiveSample& sample : samples) std::reverse(sample.stack.begin(), sample.stack.end());
        EXPECT_EQ(by_path(view, *compute_call_tree(view, TreeDirection::callers)), naive_tree(samples));
      }
    }
  }
}

TEST(CallTree, every_child_is_linked_once_and_siblings_are_largest_first) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const ProfileView view = view_of(random_profile(seed));
    const CallTree tree = *compute_call_tree(view, TreeDirection::callees);
    std::vector<int> linked(tree.nodes.size());
    for (std::uint32_t node = 0; node < tree.nodes.size(); ++node) {
      std::int64_t before = std::numeric_limits<std::int64_t>::max();
      for (std::uint32_t child = tree.nodes[node].first_child; child != no_node;
           child = tree.nodes[child].next_sibling) {
        ++linked[child];
        EXPECT_EQ(tree.nodes[child].parent, node);
        EXPECT_LT(node, child) << "search_flame goes from parents to children by number";
        EXPECT_EQ(tree.nodes[child].depth, tree.nodes[node].depth + 1);
        EXPECT_LE(tree.nodes[child].cum.bytes, before);
        before = tree.nodes[child].cum.bytes;
      }
    }
    EXPECT_EQ(std::count(linked.begin() + 1, linked.end(), 1), static_cast<std::ptrdiff_t>(linked.size() - 1));
    EXPECT_EQ(linked[0], 0);
  }
}

TEST(CallTree, equal_siblings_are_by_name) {
  const ProfileView view = view_of(ProfileBuilder().sample("main;b", 1).sample("main;c", 1).sample("main;a", 1));
  const CallTree tree = *compute_call_tree(view, TreeDirection::callees);
  EXPECT_EQ(children_of(view, tree, tree.nodes[0].first_child), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(CallTree, samples_without_a_stack_are_flat_at_the_root) {
  const ProfileView view = view_of(ProfileBuilder().sample("", 5).sample("main", 2));
  const CallTree tree = *compute_call_tree(view, TreeDirection::callees);
  EXPECT_EQ(tree.nodes[0].flat.bytes, 5);
  EXPECT_EQ(tree.nodes[0].cum.bytes, 7);
  EXPECT_EQ(tree.max_depth, 1U);
}

TEST(CallTree, nothing_is_a_root_alone) {
  const CallTree tree = *compute_call_tree(view_of(ProfileBuilder()), TreeDirection::callees);
  ASSERT_EQ(tree.nodes.size(), 1U);
  EXPECT_EQ(tree.nodes[0].first_child, no_node);
}

TEST(CallTree, a_run_of_library_frames_is_its_outermost_frame_in_both_directions) {
  const ProfileView view = view_of(ProfileBuilder().sample(
      "main@/home/me/train.py:1;device_put@/v/site-packages/jax/api.py:2;bind@/v/site-packages/jax/core.py:3;"
      "callback@/home/me/train.py:9;execute@/v/site-packages/jax/pxla.py:4",
      64));
  const auto names = [&](TreeDirection direction) {
    const CallTree tree = *compute_call_tree(view, direction, true);
    std::string text;
    for (std::uint32_t node = 1; node < tree.nodes.size(); ++node)
      text += (text.empty() ? "" : ";") + view.frames[row(tree.nodes[node].frame)].function;
    return text;
  };
  EXPECT_EQ(names(TreeDirection::callees), "main;device_put;callback;execute");
  EXPECT_EQ(names(TreeDirection::callers), "execute;callback;device_put;main");
}

TEST(CallTree, folded_has_no_calls_of_modules_between_modules) {
  constexpr const char* calls =
      "Module._wrapped_call_impl@/v/site-packages/torch/nn/modules/module.py:9;"
      "_call_impl@/v/site-packages/torch/nn/modules/module.py:19;";
  const ProfileView view = view_of(ProfileBuilder().sample(
      std::string("main@train.py:1;") + calls + "forward@net.py:2;" + calls +
          "forward@/v/site-packages/torch/nn/modules/linear.py:3;linear@/v/site-packages/torch/functional.py:4",
      8));
  for (const bool folds : {false, true}) {
    const CallTree tree = *compute_call_tree(view, TreeDirection::callees, folds);
    std::vector<std::string> path;
    for (const FrameIndex frame : tree.path(static_cast<std::uint32_t>(tree.nodes.size() - 1)))
      path.push_back(view.frames[row(frame)].function);
    const auto expected = folds ? std::vector<std::string>{"main", "forward", "forward"}
                                : std::vector<std::string>{"main",
                                                           "Module._wrapped_call_impl",
                                                           "_call_impl",
                                                           "forward",
                                                           "Module._wrapped_call_impl",
                                                           "_call_impl",
                                                           "forward",
                                                           "linear"};
    EXPECT_EQ(path, expected);
  }
}

TEST(CallTree, finds_what_another_one_has_of_the_same_paths) {
  const ProfileView before = view_of(ProfileBuilder().sample("main@/a/t.py:1;keep@/a/t.py:7", 10).sample("gone", 4));
  const ProfileView now =
      view_of(ProfileBuilder().sample("main@/b/t.py:1;keep@/b/t.py:9", 30).sample("main@/b/t.py:1;fresh@/b/t.py:8", 5));
  const CallTree tree = *compute_call_tree(now, TreeDirection::callees);
  const auto same = find_same_paths(now, tree, before, *compute_call_tree(before, TreeDirection::callees));
  std::map<std::string, std::int64_t> bytes;
  for (std::uint32_t node = 1; node < tree.nodes.size(); ++node)
    bytes[now.frames[row(tree.nodes[node].frame)].function] = same[node].bytes;
  EXPECT_EQ(same[0].bytes, 14) << "all";
  EXPECT_EQ(bytes, (std::map<std::string, std::int64_t>{{"main", 10}, {"keep", 10}, {"fresh", 0}}))
      << "whatever the folder, and the line of a function";
}

TEST(CallTree, stops_when_cancelled) {
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(compute_call_tree(view_of(random_profile(1)), TreeDirection::callees, false, &cancelled));
}

TEST(CallTree, a_stack_of_a_hundred_thousand_frames_needs_no_recursion) {
  ProfileBuilder builder;
  const LocationIndex f = builder.location("f");
  builder.values(std::vector<LocationIndex>(100'000, f), {1, 4096});
  const CallTree tree = *compute_call_tree(view_of(builder), TreeDirection::callees);
  EXPECT_EQ(tree.max_depth, 100'000U);
  EXPECT_EQ(tree.nodes.back().flat.bytes, 4096);
}

}  // namespace
}  // namespace hbmscope
