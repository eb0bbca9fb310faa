#include "analysis/query/stack_paths.h"

#include <algorithm>
#include <chrono>
#include <random>

#include <gtest/gtest.h>

namespace hbmscope {
namespace {

using Symbols = std::vector<std::uint32_t>;

StackPaths paths_of(const std::vector<Symbols>& all) {
  StackPaths paths;
  for (std::size_t i = 0; i < all.size(); ++i) paths.add(static_cast<std::uint32_t>(i), all[i]);
  return paths;
}

TEST(StackPaths, are_sorted_as_the_standard_library_does_and_keep_their_owners) {
  std::mt19937 random(3);
  for (const std::uint32_t symbols : {1U, 2U, 5U, 1000U}) {
    std::vector<Symbols> all(3000);
    for (Symbols& path : all) {
      path.resize(random() % 12);
      for (std::uint32_t& symbol : path)
        symbol = random() % symbols == 0 ? 0xffffffff : static_cast<std::uint32_t>(random() % symbols);
    }
    StackPaths paths = paths_of(all);
    ASSERT_TRUE(paths.sort());
    std::vector<Symbols> expected = all;
    std::sort(expected.begin(), expected.end());
    std::vector<bool> seen(all.size());
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const auto path = paths.symbols(i);
      ASSERT_EQ(Symbols(path.begin(), path.end()), expected[i]);
      ASSERT_EQ(all[paths.owner(i)], expected[i]);
      ASSERT_FALSE(seen[paths.owner(i)]);
      seen[paths.owner(i)] = true;
    }
  }
}

TEST(StackPaths, know_what_neighbours_share) {
  StackPaths paths = paths_of({{1, 2, 3}, {1, 2}, {}, {1, 2, 4}, {5}});
  paths.sort();
  EXPECT_EQ(paths.shared_with_previous(0), 0U);
  EXPECT_EQ(paths.shared_with_previous(1), 0U);  // {} and {1, 2}
  EXPECT_EQ(paths.shared_with_previous(2), 2U);  // {1, 2} and {1, 2, 3}
  EXPECT_EQ(paths.shared_with_previous(3), 2U);
  EXPECT_EQ(paths.shared_with_previous(4), 0U);
}

TEST(StackPaths, ordered_input_takes_no_quadratic_time) {
  // The input of a comparison: a sorted profile, followed by the same one. With a pivot from fixed places, two profiles
  // of a million functions took a minute.
  constexpr std::uint32_t count = 300'000;
  for (const bool backwards : {false, true}) {
    StackPaths paths;
    for (int side = 0; side < 2; ++side)
      for (std::uint32_t i = 0; i < count; ++i) paths.add(i, Symbols{backwards ? count - i : i});
    const auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(paths.sort());
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
  }
}

TEST(StackPaths, stop_when_cancelled) {
  const std::atomic<bool> cancelled = true;
  EXPECT_FALSE(paths_of(std::vector<Symbols>(100, {1})).sort(&cancelled));
}

TEST(StackPaths, nothing) {
  StackPaths paths;
  EXPECT_TRUE(paths.sort());
  EXPECT_EQ(paths.size(), 0U);
}

}  // namespace
}  // namespace hbmscope
