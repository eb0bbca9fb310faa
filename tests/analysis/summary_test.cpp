#include "analysis/query/summary.h"

#include "analysis/answers/series.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

const std::vector<TestLabel> buffer = {{"device", "TPU_0"}, {"kind", "buffer"}}, program = {{"kind", "executable"}};

std::string headline(const ProfileBuilder& builder) {
  return compute_summary(view_of(builder)).headline;
}

bool has_note(const ProfileSummary& summary, std::string_view part) {
  return std::any_of(summary.notes.begin(), summary.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

TEST(Summary, one_sentence_says_what_is_held) {
  EXPECT_EQ(headline(ProfileBuilder().sample("f", 2048, 1, buffer)),
            "JAX device memory profile: 2.00 KiB in 1 buffer on 1 device.");
  EXPECT_EQ(
      headline(ProfileBuilder().sample("f", 2048, 1203, buffer).sample("f", 1024, 1, program).unknown("g", 2, program)),
      "JAX device memory profile: 3.00 KiB in 1,203 buffers and 3 compiled programs on 1 device.");
  EXPECT_EQ(headline(ProfileBuilder().sample("f", 10, 2, buffer).sample("f", 5, 3)),
            "JAX device memory profile: 15 B in 2 buffers and 3 of no kind on 1 device.");
  EXPECT_EQ(headline(ProfileBuilder().sample("f", 10, 2)), "JAX device memory profile: 10 B in 2 allocations.");
  EXPECT_EQ(headline(ProfileBuilder()), "JAX device memory profile: 0 B in 0 allocations.");
}

TEST(Summary, other_producers) {
  ProfileBuilder go({{"inuse_objects", "count"}, {"inuse_space", "bytes"}});
  EXPECT_EQ(headline(go.values("main", {2, 2048})), "Go heap profile: 2.00 KiB in 2 allocations.");
  ProfileBuilder cpu({{"samples", "count"}, {"cpu", "nanoseconds"}});
  EXPECT_EQ(headline(cpu.values("main", {2, 10'000'000})), "CPU profile: 10.0 ms in 1 stack.");
  ProfileBuilder bytes_only(std::vector<std::pair<std::string, std::string>>{{"space", "bytes"}});
  EXPECT_EQ(headline(bytes_only.values("main", {2048})), "pprof profile: 2.00 KiB in 1 stack.");
}

TEST(Summary, notes_say_what_the_figures_are_not) {
  const ProfileSummary jax = compute_summary(view_of(ProfileBuilder().sample("f", 1, 1, buffer)));
  EXPECT_TRUE(has_note(jax, "before the allocator rounds"));
  EXPECT_TRUE(has_note(jax, "no addresses or times"));
  EXPECT_FALSE(has_note(jax, "unknown size"));
  EXPECT_TRUE(
      has_note(compute_summary(view_of(ProfileBuilder().unknown("f", 1))), "1 compiled program is of unknown size"));
  EXPECT_TRUE(
      has_note(compute_summary(view_of(ProfileBuilder().unknown("f", 2))), "2 compiled programs are of unknown size"));
  EXPECT_TRUE(has_note(compute_summary(view_of(ProfileBuilder())), "no samples"));
  EXPECT_TRUE(has_note(compute_summary(view_of(ProfileBuilder().sample("f", 1))), "does not record devices"));
  EXPECT_FALSE(has_note(compute_summary(view_of(ProfileBuilder().sample("f", 1, 1, buffer), {.where = "g"})),
                        "does not record devices"))
      << "it does, though the filter left nothing of it";
}

TEST(Summary, is_of_what_the_filter_leaves) {
  const ProfileView view =
      view_of(ProfileBuilder().sample("f", 2048, 1, buffer).sample("g", 4096, 1, buffer), {.where = "f"});
  EXPECT_EQ(compute_summary(view).headline, "JAX device memory profile: 2.00 KiB in 1 buffer on 1 device.");
}

std::string order_of(const std::vector<SeriesPoint>& points) {
  std::string order;
  for (const SeriesPoint& point : points) order += point.file;
  return order;
}

TEST(Series, is_in_the_order_of_time_if_all_have_one) {
  std::vector<ProfileView> views;
  views.push_back(view_of(ProfileBuilder().name("a").time(30).sample("f", 1)));
  views.push_back(view_of(ProfileBuilder().name("b").time(10).sample("f", 2)));
  views.push_back(view_of(ProfileBuilder().name("c").time(20).sample("f", 4)));
  const std::vector<SeriesPoint> points = compute_series(views);
  EXPECT_EQ(order_of(points), "bca");
  EXPECT_EQ(points[0].total.bytes, 2);
  views.push_back(view_of(ProfileBuilder().name("d")));
  EXPECT_EQ(order_of(compute_series(views)), "abcd") << "else as given";
}

TEST(Series, names_the_line_that_grew_and_by_how_much_a_step) {
  const auto views_of = [](const std::vector<std::pair<const char*, int>>& files) {
    std::vector<ProfileView> views;
    for (const auto& [name, bytes] : files)
      views.push_back(
          view_of(ProfileBuilder().name(name).sample("keep@train.py:7", bytes).sample("w@train.py:2", 400)));
    return compute_series(views);
  };
  const auto points = views_of({{"/a/step_10.prof", 100}, {"/a/step_20.prof", 200}, {"/a/step_40.prof", 400}});
  const SeriesGrowth growth = compute_series_growth(points);
  EXPECT_EQ(growth.bytes, 300);
  ASSERT_TRUE(growth.line);
  EXPECT_EQ(growth.lines[*growth.line].name, "keep train.py:7");
  EXPECT_EQ(growth.lines[*growth.line].bytes, (std::vector<std::int64_t>{100, 200, 400}));
  EXPECT_EQ(growth.steps, 30U);
  EXPECT_EQ(headline_of_series(points, growth, "bytes"), "3 profiles: +300 B, keep train.py:7, 10 B a step");
  const auto unnumbered = views_of({{"a.prof", 100}, {"b.prof", 200}});
  EXPECT_EQ(headline_of_series(unnumbered, compute_series_growth(unnumbered), "bytes"),
            "2 profiles: +100 B, keep train.py:7");
  const auto equal = views_of({{"a.prof", 100}, {"b.prof", 100}});
  EXPECT_EQ(headline_of_series(equal, compute_series_growth(equal), "bytes"),
            "2 profiles: 500 B in the first and in the last");
  EXPECT_EQ(headline_of_series({}, {}, "bytes"), "");
}

TEST(Series, shows_the_line_that_grew_however_small_it_is) {
  std::vector<ProfileView> views;
  for (const int bytes : {1, 2}) {
    ProfileBuilder builder;
    builder.sample("keep@train.py:7", bytes);
    for (int line = 20; line < 40; ++line) builder.sample("w@train.py:" + std::to_string(line), 100);
    views.push_back(view_of(builder));
  }
  const SeriesGrowth growth = compute_series_growth(compute_series(views));
  ASSERT_TRUE(growth.line);
  EXPECT_EQ(growth.lines[*growth.line].name, "keep train.py:7");
  EXPECT_EQ(*growth.line, 0U) << "what grows comes first";
  ASSERT_EQ(growth.lines.size(), 8U);
  EXPECT_EQ(growth.lines.back().name, "14 other lines");
  std::int64_t sum = 0;
  for (const auto& line : growth.lines) sum += line.bytes.back();
  EXPECT_EQ(sum, 2002);
}

}  // namespace
}  // namespace hbmscope
