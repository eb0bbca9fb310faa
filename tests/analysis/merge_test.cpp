#include "analysis/query/merge.h"

#include <limits>

#include <gtest/gtest.h>

#include "analysis/query/groups.h"
#include "analysis/query/top.h"
#include "tests/analysis/naive.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

using Types = std::vector<std::pair<std::string, std::string>>;
using Profiles = std::vector<std::shared_ptr<const Profile>>;

TEST(Merge, sums_are_those_of_the_parts) {
  const Profiles parts = {random_profile(1).name("a").build(), random_profile(2).name("b").build(),
                          random_profile(1).build()};
  const auto merged = merge_profiles(parts);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->files, (std::vector<std::string>{"a", "b", "test.prof"}));
  const ProfileView whole = view_of(std::make_shared<const Profile>(*merged));
  std::vector<NaiveSample> samples;
  Weight total;
  for (const auto& part : parts) {
    const ProfileView view = view_of(part);
    for (NaiveSample& sample : naive_samples(view)) samples.push_back(std::move(sample));
    total += view.total;
  }
  EXPECT_EQ(whole.total, total);
  EXPECT_EQ(naive_top(naive_samples(whole)), naive_top(samples));
  Weight devices;
  for (const GroupRow& group : compute_groups(whole, "device")) devices += group.weight;
  EXPECT_EQ(devices, total);
}

TEST(Merge, equal_functions_become_one_and_modules_stay_apart) {
  ProfileBuilder a, b;
  a.sample("main;f", 1).values({a.address(0x10, "x.so")}, {1, 2});
  b.sample("main;f", 4).values({b.address(0x10, "x.so")}, {1, 8});
  const auto merged = merge_profiles(Profiles{a.build(), b.build()});
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->functions.size(), 2U);
  EXPECT_EQ(merged->mappings.size(), 2U);
  EXPECT_EQ(view_of(std::make_shared<const Profile>(*merged)).total.bytes, 15);
}

TEST(Merge, labels_keep_their_samples) {
  const Profiles parts = {ProfileBuilder().sample("f", 1, 1, {{"device", "TPU_0"}}).build(),
                          ProfileBuilder().sample("f", 2).sample("f", 4, 1, {{"device", "TPU_1"}}).build()};
  const auto groups = compute_groups(view_of(std::make_shared<const Profile>(*merge_profiles(parts))), "device");
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].weight.bytes, 1);
  EXPECT_EQ(groups[1].weight.bytes, 4);
  EXPECT_EQ(groups[2].weight.bytes, 2);
}

TEST(Merge, programs_of_unknown_size_stay_unknown) {
  const Profiles parts = {ProfileBuilder().sample("f", 1).build(), ProfileBuilder().unknown("g", 3).build()};
  EXPECT_EQ(view_of(std::make_shared<const Profile>(*merge_profiles(parts))).total, (Weight{1, 1, 3}));
}

TEST(Merge, different_kinds_are_refused_by_name) {
  const auto cpu = ProfileBuilder(Types{{"cpu", "nanoseconds"}}).name("cpu.pb").build();
  const auto merged = merge_profiles(Profiles{ProfileBuilder().name("mem.pb").build(), cpu});
  ASSERT_FALSE(merged);
  EXPECT_NE(merged.error().text().find("mem.pb has allocations/count, space/bytes, cpu.pb has cpu/nanoseconds"),
            std::string::npos)
      << merged.error().text();
}

TEST(Merge, nothing_is_refused) {
  EXPECT_FALSE(merge_profiles(Profiles{}));
}

TEST(Merge, profiles_without_value_types_are_refused_when_they_are_looked_at) {
  const auto empty = ProfileBuilder(Types{}).build();
  const auto merged = merge_profiles(Profiles{empty, empty});
  ASSERT_TRUE(merged);
  EXPECT_FALSE(make_view(std::make_shared<const Profile>(*merged), {}));
}

TEST(Merge, sums_that_reach_two_to_the_63_are_refused) {
  constexpr std::int64_t half = std::numeric_limits<std::int64_t>::max() / 2 + 1;
  const auto big = ProfileBuilder().sample("f", half).build();
  EXPECT_TRUE(merge_profiles(Profiles{big}));
  EXPECT_FALSE(merge_profiles(Profiles{big, big}));
  const auto negative = ProfileBuilder().sample("f", -half).build();
  EXPECT_FALSE(merge_profiles(Profiles{big, negative})) << "magnitudes count: any part of them may be summed";
}

TEST(Merge, the_earliest_time_is_the_time) {
  const auto merged = merge_profiles(
      Profiles{ProfileBuilder().time(5).build(), ProfileBuilder().build(), ProfileBuilder().time(3).build()});
  EXPECT_EQ(merged->time_ns, 3);
}

}  // namespace
}  // namespace hbmscope
