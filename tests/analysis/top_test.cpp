#include "analysis/query/top.h"

#include <gtest/gtest.h>

#include "tests/analysis/naive.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

TEST(Top, flat_is_the_innermost_frames_and_cum_counts_a_recurring_frame_once) {
  const ProfileView view = view_of(ProfileBuilder().sample("main;f;g;f", 100, 2).sample("main;g", 7));
  const std::vector<TopRow> top = compute_top(view);
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(view.frames[row(top[0].frame)].function, "f");
  EXPECT_EQ(top[0].flat, (Weight{100, 2, 0}));
  EXPECT_EQ(top[0].cum, (Weight{100, 2, 0}));
  EXPECT_EQ(view.frames[row(top[1].frame)].function, "g");
  EXPECT_EQ(top[1].flat, (Weight{7, 1, 0}));
  EXPECT_EQ(top[1].cum, (Weight{107, 3, 0}));
}

TEST(Top, equals_the_naive_sums_on_random_profiles_with_every_grouping_and_filter) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const auto profile = random_profile(seed).build();
    for (const FrameBy by : {FrameBy::function, FrameBy::line, FrameBy::file, FrameBy::package}) {
      for (const ViewRequest& filter : {ViewRequest{}, ViewRequest{.focus = "f3"}, ViewRequest{.hide = "f[01]"},
                                        ViewRequest{.where = "size>1000 -kind:executable"}}) {
        ViewRequest request = filter;
        request.by = by;
        const ProfileView view = view_of(profile, request);
        std::map<std::string, NaiveSums> fast;
        for (const TopRow& top : compute_top(view)) fast[text_of(view.frames[row(top.frame)])] = {top.flat, top.cum};
        EXPECT_EQ(fast, naive_top(naive_samples(view))) << "seed " << seed;
      }
    }
  }
}

TEST(Top, several_threads_add_up_to_what_one_does) {
  const ProfileView view = view_of(random_profile(4, 70'000));
  std::map<std::string, NaiveSums> fast;
  for (const TopRow& top : compute_top(view)) fast[text_of(view.frames[row(top.frame)])] = {top.flat, top.cum};
  EXPECT_EQ(fast, naive_top(naive_samples(view)));
}

TEST(Top, every_order_is_largest_first_and_equal_rows_are_by_name) {
  const ProfileView view = view_of(random_profile(1));
  const auto is_sorted = [&](TopOrder order, auto value) {
    const std::vector<TopRow> rows = compute_top(view, order);
    for (std::size_t i = 1; i < rows.size(); ++i) EXPECT_GE(value(rows[i - 1]), value(rows[i]));
  };
  is_sorted(TopOrder::flat_bytes, [](const TopRow& r) { return r.flat.bytes; });
  is_sorted(TopOrder::cum_bytes, [](const TopRow& r) { return r.cum.bytes; });
  is_sorted(TopOrder::flat_count, [](const TopRow& r) { return r.flat.count + r.flat.unknown; });
  is_sorted(TopOrder::cum_count, [](const TopRow& r) { return r.cum.count + r.cum.unknown; });
  const ProfileView equal = view_of(ProfileBuilder().sample("b", 5).sample("c", 5).sample("a", 5));
  std::string names;
  for (const TopRow& top : compute_top(equal)) names += equal.frames[row(top.frame)].function;
  EXPECT_EQ(names, "abc");
}

TEST(Top, unknown_sizes_are_counted_apart) {
  const ProfileView view = view_of(ProfileBuilder().sample("main;f", 10).unknown("main;f", 3));
  EXPECT_EQ(compute_top(view)[0].flat, (Weight{10, 1, 3}));
  EXPECT_EQ(view.total, (Weight{10, 1, 3}));
}

TEST(Top, functions_written_twice_in_the_files_texts_are_one_row) {
  // A producer that does not intern: two entries of the string table with one text.
  ProfileBuilder builder;
  builder.sample("main;f@x.py:1", 1);
  Profile& profile = builder.profile();
  const StringId again = profile.strings.append("f"), file = profile.strings.append("x.py");
  profile.functions.push_back({again, again, file, 1});
  profile.lines.push_back({static_cast<FunctionIndex>(profile.functions.size() - 1), 1, 0});
  profile.location_address.push_back(0);
  profile.location_mapping.push_back(MappingIndex::none);
  profile.location_folded.push_back(0);
  profile.line_begin.push_back(static_cast<std::uint32_t>(profile.lines.size()));
  builder.values({static_cast<LocationIndex>(profile.location_count() - 1), builder.location("main")}, {1, 2});
  const ProfileView view = view_of(builder);
  const std::vector<TopRow> top = compute_top(view);
  ASSERT_EQ(top.size(), 2U);
  EXPECT_EQ(top[0].flat.bytes, 3);
}

TEST(Top, nothing_selected_is_no_row) {
  EXPECT_TRUE(compute_top(view_of(ProfileBuilder())).empty());
  EXPECT_TRUE(compute_top(view_of(ProfileBuilder().sample("main", 1), {.where = "size>1GiB"})).empty());
}

TEST(Neighbours, callers_and_callees_add_up_to_the_frame) {
  const ProfileView view =
      view_of(ProfileBuilder().sample("main;a;f;x", 1).sample("main;b;f;y", 10).sample("main;b;f", 100));
  FrameIndex f = FrameIndex::none;
  for (std::size_t i = 0; i < view.frames.size(); ++i)
    if (view.frames[i].function == "f") f = static_cast<FrameIndex>(i);
  const Neighbours around = compute_neighbours(view, f);
  EXPECT_EQ(around.self.cum.bytes, 111);
  EXPECT_EQ(around.self.flat.bytes, 100);
  ASSERT_EQ(around.callers.size(), 2U);
  EXPECT_EQ(view.frames[row(around.callers[0].frame)].function, "b");
  EXPECT_EQ(around.callers[0].cum.bytes, 110);
  ASSERT_EQ(around.callees.size(), 2U);
  EXPECT_EQ(view.frames[row(around.callees[0].frame)].function, "y");
  EXPECT_EQ(around.callees[0].cum.bytes, 10);
}

TEST(Neighbours, a_frame_that_calls_itself_is_its_own_caller_and_callee_once) {
  const ProfileView view = view_of(ProfileBuilder().sample("f;f;f", 8));
  const Neighbours around = compute_neighbours(view, FrameIndex{0});
  EXPECT_EQ(around.self.cum.bytes, 8);
  ASSERT_EQ(around.callers.size(), 1U);
  EXPECT_EQ(around.callers[0].cum.bytes, 8);
  ASSERT_EQ(around.callees.size(), 1U);
  EXPECT_EQ(around.callees[0].cum.bytes, 8);
}

}  // namespace
}  // namespace hbmscope
