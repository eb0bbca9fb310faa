// An export read again is the view that was exported.
#include <gtest/gtest.h>

#include "analysis/query/groups.h"
#include "analysis/read/pprof/read_pprof.h"
#include "analysis/write/write.h"
#include "tests/analysis/naive.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

std::shared_ptr<const Profile> read_again(const ProfileView& view) {
  const std::string bytes = write_pprof(view);
  auto profile = read_pprof_bytes({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, "export");
  EXPECT_TRUE(profile) << profile.error().text();
  return profile ? std::make_shared<const Profile>(std::move(*profile)) : nullptr;
}

void expect_same(const ProfileView& view, const ProfileView& again) {
  const std::vector<NaiveSample> expected = naive_samples(view), got = naive_samples(again);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].stack, expected[i].stack) << "sample " << i;
    EXPECT_EQ(got[i].weight, expected[i].weight) << "sample " << i;
  }
  EXPECT_EQ(again.total, view.selected);
  const auto devices = [](const ProfileView& of) {
    std::string text;
    for (const GroupRow& group : compute_groups(of, "device"))
      text += group.name.value_or("-") + std::to_string(group.weight.bytes) + " ";
    return text;
  };
  EXPECT_EQ(devices(again), devices(view));
}

TEST(WritePprof, read_again_is_the_view_with_any_filter) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    const auto profile = random_profile(seed).build();
    for (ViewRequest request :
         {ViewRequest{}, ViewRequest{.where = "size>1000"}, ViewRequest{.focus = "f3"}, ViewRequest{.hide = "f[01]"},
          ViewRequest{.show = "f[0-4]"}, ViewRequest{.hide = ".*"}}) {
      request.by = FrameBy::line;
      const ProfileView view = view_of(profile, request);
      expect_same(view, view_of(read_again(view), {.by = FrameBy::line}));
    }
  }
}

TEST(WritePprof, of_inlined_lines_only_the_visible_ones_are_written) {
  const ProfileView view = view_of(ProfileBuilder().sample("main;outer+middle+inner", 8), {.hide = "middle"});
  const auto again = read_again(view);
  EXPECT_EQ(again->lines.size(), 3U);
  expect_same(view, view_of(again));
}

TEST(WritePprof, programs_of_unknown_size_stay_unknown) {
  const std::vector<TestLabel> program = {{"kind", "executable"}};
  const ProfileView view =
      view_of(ProfileBuilder().sample("f", 5, 1, program).unknown("g", 3, program).unknown("h", 0, program));
  const auto again = read_again(view);
  EXPECT_EQ(again->unknown_size, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(again->import.count_of("unknown_size"), 3);
}

TEST(WritePprof, keeps_what_the_header_says) {
  ProfileBuilder go({{"alloc_space", "bytes"}, {"inuse_space", "bytes"}});
  go.time(12345).values("main", {7, 5}, {{"bytes", "", 512, "bytes"}});
  Profile& profile = go.profile();
  profile.default_value_type = 0;
  profile.duration_ns = 9;
  profile.period = 524288;
  profile.period_type = {go.text("space"), go.text("bytes")};
  profile.comments = {go.text("a comment")};
  profile.doc_url = go.text("https://example.com");
  const auto again = read_again(view_of(go));
  EXPECT_EQ(again->time_ns, 12345);
  EXPECT_EQ(again->duration_ns, 9);
  EXPECT_EQ(again->period, 524288);
  EXPECT_EQ(again->text(again->period_type.type), "space");
  EXPECT_EQ(again->default_value_type, 0U);
  EXPECT_EQ(again->text(again->comments.at(0)), "a comment");
  EXPECT_EQ(again->text(again->doc_url), "https://example.com");
  EXPECT_EQ(find_label_text(*again, again->label_set[0], "bytes"), "512 bytes");
}

TEST(WritePprof, dropped_frames_stay_dropped_and_kept_ones_stay_kept) {
  const ProfileBuilder builder = ProfileBuilder().sample("main;malloc;lock", 8).drop("malloc|lock");
  const ProfileView dropped = view_of(builder), kept = view_of(builder, {.keep_dropped_frames = true});
  expect_same(dropped, view_of(read_again(dropped)));
  expect_same(kept, view_of(read_again(kept)));
}

TEST(WritePprof, addresses_and_modules_survive) {
  ProfileBuilder builder;
  builder.values({builder.address(0x4711, "libtpu.so"), builder.address(0, "python")}, {1, 64});
  const ProfileView view = view_of(builder);
  expect_same(view, view_of(read_again(view)));
}

TEST(WritePprof, texts_that_are_not_utf8_are_kept_byte_by_byte) {
  ProfileBuilder builder;
  builder.sample("main@m.py:1", 1);
  builder.profile().functions[0].name = builder.text("bad\xff");
  EXPECT_EQ(view_of(read_again(view_of(builder))).frames[0].function, "bad\xff");
}

TEST(WritePprof, more_samples_than_one_part_holds) {
  ProfileBuilder builder;
  const LocationIndex f = builder.location("f");
  for (int i = 0; i < 70'000; ++i) builder.values({f}, {1, i});
  const ProfileView view = view_of(builder);
  const ProfileView again = view_of(read_again(view));
  EXPECT_EQ(again.sample_count(), 70'000U);
  EXPECT_EQ(again.total, view.total);
}

}  // namespace
}  // namespace hbmscope
