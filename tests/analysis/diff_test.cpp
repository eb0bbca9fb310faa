#include "analysis/query/diff.h"

#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "tests/analysis/naive.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

ProfileDiff diff_of(const ProfileBuilder& baseline, const ProfileBuilder& now,
                    StackMatch match = StackMatch::function) {
  const ViewRequest by_line{.by = FrameBy::line};
  return compute_diff(view_of(baseline, by_line), view_of(now, by_line), match);
}

// "grown main;f 10->30", one row a line.
std::string rows_of(const ProfileDiff& diff) {
  std::string text;
  for (const DiffRow& stack : diff.stacks)
    text += std::string(text_from_change(stack.change)) + " " + folded(diff.frame_table, stack.stack) + " " +
            std::to_string(stack.baseline.bytes) + "->" + std::to_string(stack.now.bytes) + "\n";
  return text;
}

TEST(Diff, says_what_grew_came_shrank_and_went_largest_change_first) {
  const ProfileDiff diff =
      diff_of(ProfileBuilder().sample("main;a", 10).sample("main;b", 40).sample("main;c", 5).sample("main;d", 7),
              ProfileBuilder().sample("main;a", 30).sample("main;b", 10).sample("main;e", 3).sample("main;d", 7));
  EXPECT_EQ(rows_of(diff),
            "shrunk main;b 40->10\ngrown main;a 10->30\ngone main;c 5->0\nnew main;e 0->3\nsame main;d 7->7\n");
  EXPECT_EQ(diff.baseline.bytes, 62);
  EXPECT_EQ(diff.now.bytes, 50);
  EXPECT_EQ(diff.unmatched_bytes, 8);
  EXPECT_EQ(diff.compared_bytes, 112);
}

TEST(Diff, moved_lines_and_moved_folders_are_the_same_stack) {
  const ProfileBuilder baseline =
      ProfileBuilder().sample("main@/home/a/train.py:10;step@/v/site-packages/jax/api.py:99", 5);
  const ProfileBuilder now =
      ProfileBuilder().sample("main@/srv/b/train.py:17;step@/w/lib/site-packages/jax/api.py:120", 9);
  EXPECT_EQ(rows_of(diff_of(baseline, now)), "grown main;step 5->9\n");
  EXPECT_EQ(diff_of(baseline, now).unmatched_bytes, 0);
  const ProfileDiff by_line = diff_of(baseline, now, StackMatch::line);
  EXPECT_EQ(rows_of(by_line), "new main;step 0->9\ngone main;step 5->0\n");
  EXPECT_EQ(by_line.unmatched_bytes, by_line.compared_bytes);
}

TEST(Diff, of_a_side_without_its_paths_matches_files_by_name) {
  const ProfileBuilder whole = ProfileBuilder().sample(
      "main@/home/a/train.py:10;step@/v/site-packages/jax/_src/api.py:99;load@/usr/lib/python3.11/json/decoder.py:5",
      5);
  const ProfileBuilder stripped =
      ProfileBuilder().sample("main@…/train.py:10;step@…/site-packages/api.py:99;load@…/lib/python3/decoder.py:5", 9);
  for (const bool is_baseline : {true, false}) {
    const ProfileDiff diff = is_baseline ? diff_of(stripped, whole) : diff_of(whole, stripped);
    EXPECT_TRUE(diff.is_by_file_name);
    EXPECT_EQ(diff.unmatched_bytes, 0);
    EXPECT_EQ(diff.stacks.size(), 1U);
  }
  EXPECT_FALSE(diff_of(whole, whole).is_by_file_name);
}

TEST(Diff, other_files_are_other_stacks) {
  EXPECT_EQ(rows_of(diff_of(ProfileBuilder().sample("f@a.py:1", 5), ProfileBuilder().sample("f@b.py:1", 5))),
            "new f 0->5\ngone f 5->0\n");
}

TEST(Diff, a_row_names_the_line_that_changed_most) {
  const ProfileDiff diff = diff_of(ProfileBuilder().sample("main;f@f.py:10", 100).sample("main;f@f.py:20", 5),
                                   ProfileBuilder().sample("main;f@f.py:10", 101).sample("main;f@f.py:20", 50));
  ASSERT_EQ(diff.stacks.size(), 1U);
  EXPECT_EQ(diff.stacks[0].now.bytes, 151);
  EXPECT_EQ(diff.frame_table[row(diff.stacks[0].stack.front())].line, 20);
}

TEST(Diff, a_stack_is_shown_as_it_is_now) {
  ProfileBuilder before, after;
  for (int i = 0; i < 5; ++i) {
    before.sample("f@/old/f.py:3", 5);
    after.sample("f@/new/f.py:3", 5);
  }
  const ProfileDiff diff = diff_of(before, after);
  ASSERT_EQ(diff.stacks.size(), 1U);
  EXPECT_EQ(diff.frame_table[row(diff.stacks[0].stack.front())].file, "/new/f.py");
  const ProfileDiff back = diff_of(after, before);
  EXPECT_EQ(back.frame_table[row(back.stacks[0].stack.front())].file, "/old/f.py");
}

TEST(Diff, of_a_profile_with_itself_is_all_the_same) {
  for (std::uint32_t seed = 0; seed < 5; ++seed) {
    const ProfileBuilder builder = random_profile(seed);
    const ProfileDiff diff = diff_of(builder, builder);
    EXPECT_EQ(diff.unmatched_bytes, 0);
    for (const DiffRow& stack : diff.stacks) EXPECT_EQ(stack.change, Change::same);
    for (const FrameDiffRow& frame : diff.frames) EXPECT_EQ(frame.now_flat, frame.baseline_flat);
  }
}

TEST(Diff, equals_the_naive_comparison_on_random_profiles) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const ProfileView baseline = view_of(random_profile(seed), {.by = FrameBy::line});
    const ProfileView now = view_of(random_profile(seed + 100), {.by = FrameBy::line});
    const auto symbol = [](const Frame& frame, StackMatch match) {
      std::string text = frame.function + "|" + std::string(file_tail(frame.file));
      return match == StackMatch::line ? text + "|" + std::to_string(frame.line) : text;
    };
    for (const StackMatch match : {StackMatch::function, StackMatch::line}) {
      std::map<std::vector<std::string>, std::pair<Weight, Weight>> expected;
      const auto add = [&](const ProfileView& view, bool is_now) {
        for (std::size_t i = 0; i < view.sample_count(); ++i) {
          std::vector<std::string> stack;
          for (const FrameIndex frame : view.visible_stack(view.sample(i)))
            stack.push_back(symbol(view.frames[row(frame)], match));
          auto& [before, after] = expected[stack];
          (is_now ? after : before) += view.weight(view.sample(i));
        }
      };
      add(baseline, false);
      add(now, true);
      std::map<std::vector<std::string>, std::pair<Weight, Weight>> got;
      const ProfileDiff diff = compute_diff(baseline, now, match);
      for (const DiffRow& row_of_diff : diff.stacks) {
        std::vector<std::string> stack;
        for (const FrameIndex frame : row_of_diff.stack) stack.push_back(symbol(diff.frame_table[row(frame)], match));
        EXPECT_TRUE(got.try_emplace(stack, row_of_diff.baseline, row_of_diff.now).second);
      }
      EXPECT_EQ(got, expected) << "seed " << seed;
    }
  }
}

TEST(Diff, frames_are_flat_changes_and_recursion_counts_once) {
  const ProfileDiff diff = diff_of(ProfileBuilder().sample("f;f;f", 10), ProfileBuilder().sample("f;f;f", 30));
  ASSERT_EQ(diff.frames.size(), 1U);
  EXPECT_EQ(diff.frames[0].baseline_cum.bytes, 10);
  EXPECT_EQ(diff.frames[0].now_cum.bytes, 30);
  EXPECT_EQ(diff.frames[0].now_flat.bytes, 30);
}

TEST(Diff, every_frame_has_a_name_also_where_all_values_are_negative) {
  const ProfileDiff diff = diff_of(ProfileBuilder().sample("main;f", -10), ProfileBuilder().sample("main;f", -30));
  for (const FrameDiffRow& frame : diff.frames) EXPECT_FALSE(frame.frame.function.empty());
}

TEST(Diff, devices_and_kinds_of_both_sides_are_joined_by_name) {
  const ProfileDiff diff =
      diff_of(ProfileBuilder()
                  .sample("f", 1, 1, {{"device", "TPU_10"}})
                  .sample("f", 2, 1, {{"device", "TPU_2"}})
                  .sample("f", 4),
              ProfileBuilder().sample("f", 8, 1, {{"device", "TPU_3"}}).sample("f", 16, 1, {{"device", "TPU_10"}}));
  std::string text;
  for (const GroupDiffRow& group : diff.devices)
    text += group.name.value_or("-") + " " + std::to_string(group.baseline.bytes) + "->" +
            std::to_string(group.now.bytes) + "\n";
  EXPECT_EQ(text, "TPU_2 2->0\nTPU_3 0->8\nTPU_10 1->16\n- 4->0\n");
}

TEST(Diff, unknown_sizes_that_come_are_new_though_they_have_no_bytes) {
  const ProfileDiff diff = diff_of(ProfileBuilder(), ProfileBuilder().unknown("main", 3));
  EXPECT_EQ(rows_of(diff), "new main 0->0\n");
  EXPECT_EQ(diff.now.unknown, 3);
}

TEST(Diff, sums_beyond_the_range_stay_at_its_end) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const ProfileDiff diff = diff_of(ProfileBuilder().sample("f", -most), ProfileBuilder().sample("f", most));
  EXPECT_EQ(diff.stacks[0].delta_bytes(), most);
  EXPECT_EQ(diff_of(ProfileBuilder().sample("f", most), ProfileBuilder().sample("f", most)).compared_bytes, most);
}

TEST(Diff, nothing_and_nothing) {
  const ProfileDiff diff = diff_of(ProfileBuilder(), ProfileBuilder());
  EXPECT_TRUE(diff.stacks.empty());
  EXPECT_TRUE(diff.frames.empty());
  EXPECT_EQ(diff.compared_bytes, 0);
}

TEST(Diff, of_different_units_is_refused) {
  ProfileBuilder cpu(std::vector<std::pair<std::string, std::string>>{{"cpu", "nanoseconds"}});
  cpu.values("main", {5});
  EXPECT_TRUE(find_mismatch(view_of(ProfileBuilder()), view_of(cpu)));
  EXPECT_FALSE(find_mismatch(view_of(cpu), view_of(cpu)));
  EXPECT_EQ(compute_diff(view_of(cpu), view_of(cpu)).unit, "nanoseconds");
}

TEST(Diff, stops_when_cancelled) {
  const std::atomic<bool> cancelled = true;
  const ProfileView view = view_of(random_profile(1));
  EXPECT_FALSE(compute_diff(view, view, StackMatch::function, &cancelled));
}

}  // namespace
}  // namespace hbmscope
