#include "analysis/query/groups.h"

#include <chrono>

#include <gtest/gtest.h>

#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

std::string rows_of(const ProfileView& view, std::string_view key) {
  std::string text;
  for (const GroupRow& group : compute_groups(view, key))
    text += group.name.value_or("-") + "=" + std::to_string(group.weight.bytes) + " ";
  return text;
}

TEST(Groups, devices_in_their_order_others_by_bytes_the_nameless_last) {
  const ProfileView view = view_of(ProfileBuilder()
                                       .sample("f", 1, 1, {{"device", "TPU_10"}, {"kind", "buffer"}})
                                       .sample("f", 2, 1, {{"device", "TPU_9"}, {"kind", "executable"}})
                                       .sample("f", 4, 1, {{"kind", "executable"}})
                                       .sample("f", 8));
  EXPECT_EQ(rows_of(view, "device"), "TPU_9=2 TPU_10=1 -=12 ");
  EXPECT_EQ(rows_of(view, "kind"), "executable=6 buffer=1 -=8 ");
  EXPECT_EQ(rows_of(view, "nothing"), "-=15 ");
}

TEST(Groups, an_empty_name_is_no_name) {
  ProfileBuilder builder;
  builder.sample("f", 1, 1, {{"device", ""}, {"kind", "buffer"}})
      .sample("f", 2, 1, {{"device", "cpu:0"}, {"kind", ""}})
      .sample("f", 4);
  for (Label& label : builder.profile().labels) label.is_number = false;
  const ProfileView view = view_of(builder);
  EXPECT_EQ(rows_of(view, "device"), "cpu:0=2 -=5 ");
  EXPECT_EQ(rows_of(view, "kind"), "buffer=1 -=6 ");
}

TEST(Groups, add_up_to_what_is_selected) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    for (const char* where : {"", "f3"}) {
      const ProfileView view = view_of(random_profile(seed), {.where = where});
      for (const char* key : {"device", "kind", "bytes", "none"}) {
        Weight sum;
        for (const GroupRow& group : compute_groups(view, key)) sum += group.weight;
        EXPECT_EQ(sum, view.selected);
      }
    }
  }
}

TEST(Groups, numeric_labels_are_named_with_their_unit) {
  const ProfileView view =
      view_of(ProfileBuilder().sample("f", 3, 1, {{"bytes", "", 512, "bytes"}}).sample("f", 1, 1, {{"bytes", "", 7}}));
  EXPECT_EQ(rows_of(view, "bytes"), "512 bytes=3 7=1 ");
}

TEST(Groups, nothing_selected_is_no_group) {
  EXPECT_EQ(rows_of(view_of(ProfileBuilder()), "device"), "");
}

TEST(Groups, label_keys_in_the_order_of_the_file) {
  EXPECT_EQ(label_keys(
                ProfileBuilder().sample("f", 1, 1, {{"b", "x"}, {"a", "x"}}).sample("f", 1, 1, {{"b", "y"}}).profile()),
            (std::vector<std::string>{"b", "a"}));
}

TEST(Groups, two_hundred_thousand_devices_and_keys_take_no_quadratic_time) {
  ProfileBuilder builder;
  const LocationIndex f = builder.location("f");
  for (int i = 0; i < 200'000; ++i)
    builder.values({f}, {1, 1},
                   {{"device", "TPU_" + std::to_string(i * 7919 % 200'000)}, {"k" + std::to_string(i), "v"}});
  const ProfileView view = view_of(builder);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(compute_groups(view, "device").size(), 200'000U);
  EXPECT_EQ(label_keys(*view.profile).size(), 200'001U);
  // Takes half a second; comparing all pairs would take minutes.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

}  // namespace
}  // namespace hbmscope
