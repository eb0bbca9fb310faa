#include "analysis/query/profile_view.h"

#include <gtest/gtest.h>

#include "analysis/query/top.h"
#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

// All stacks of a view, "a;b=8 c=1": outermost first, with their bytes.
std::string stacks(const ProfileView& view) {
  std::string text;
  for (std::size_t i = 0; i < view.sample_count(); ++i) {
    const std::uint32_t sample = view.sample(i);
    text += (text.empty() ? "" : " ") + folded(view.frames, view.visible_stack(sample)) + "=" +
            std::to_string(view.weight(sample).bytes);
  }
  return text;
}

ProfileBuilder three() {
  return ProfileBuilder().sample("main;a;x", 1).sample("main;b;x", 10).sample("main;b;y", 100);
}

TEST(View, without_filters_has_all_samples) {
  const ProfileView view = view_of(three());
  EXPECT_TRUE(view.all_samples);
  EXPECT_EQ(stacks(view), "main;a;x=1 main;b;x=10 main;b;y=100");
  EXPECT_EQ(view.total.bytes, 111);
  EXPECT_EQ(view.selected, view.total);
}

TEST(View, focus_keeps_and_ignore_drops_whole_stacks) {
  EXPECT_EQ(stacks(view_of(three(), {.focus = "^x$"})), "main;a;x=1 main;b;x=10");
  EXPECT_EQ(stacks(view_of(three(), {.ignore = "^x$"})), "main;b;y=100");
  EXPECT_EQ(stacks(view_of(three(), {.focus = "^x$", .ignore = "^a$"})), "main;b;x=10");
  EXPECT_EQ(view_of(three(), {.focus = "^x$"}).total.bytes, 111) << "shares stay those of the whole profile";
}

TEST(View, hide_and_show_take_frames_out_of_stacks) {
  EXPECT_EQ(stacks(view_of(three(), {.hide = "^b$"})), "main;a;x=1 main;x=10 main;y=100");
  EXPECT_EQ(stacks(view_of(three(), {.show = "main|x"})), "main;x=1 main;x=10 main=100");
  EXPECT_EQ(stacks(view_of(three(), {.hide = "main", .show = "x"})), "x=1 x=10");
}

TEST(View, a_stack_whose_frames_are_all_hidden_is_left_out) {
  const ProfileView view = view_of(three(), {.hide = ".*"});
  EXPECT_EQ(view.sample_count(), 0U);
  EXPECT_EQ(view.selected, Weight{});
  EXPECT_TRUE(compute_top(view).empty());
  EXPECT_EQ(stacks(view_of(three().sample("", 5), {.hide = ".*"})), "=5") << "one that never had frames stays";
}

TEST(View, expressions_are_also_searched_in_files) {
  EXPECT_EQ(stacks(view_of(three(), {.focus = "a\\.py"})), "main;a;x=1");
}

TEST(View, of_inlined_lines_some_may_be_hidden) {
  const ProfileBuilder builder = ProfileBuilder().sample("main;outer+inlined", 8);
  EXPECT_EQ(stacks(view_of(builder, {.hide = "inlined"})), "main;outer=8");
  EXPECT_EQ(stacks(view_of(builder, {.show = "inlined"})), "inlined=8");
  EXPECT_EQ(stacks(view_of(builder)), "main;outer;inlined=8");
}

TEST(View, by_address_obeys_hide_and_show_too) {
  EXPECT_EQ(stacks(view_of(three(), {.show = "main|x", .by = FrameBy::address})), "main;x=1 main;x=10 main=100");
  EXPECT_EQ(stacks(view_of(three(), {.hide = "main", .by = FrameBy::address})), "a;x=1 b;x=10 b;y=100");
  EXPECT_EQ(
      stacks(view_of(ProfileBuilder().sample("main;outer+inlined", 8), {.hide = "inlined", .by = FrameBy::address})),
      "main;outer=8");
}

TEST(View, drop_frames_take_the_machinery_below_the_outermost_match) {
  ProfileBuilder builder;
  builder.sample("main;malloc;lock", 1).sample("malloc;main;work", 2).drop("malloc|lock", "keep_this");
  EXPECT_EQ(stacks(view_of(builder)), "main=1 malloc;main;work=2")
      << "never the frames before the first one that is kept";
  EXPECT_EQ(stacks(view_of(builder, {.keep_dropped_frames = true})), "main;malloc;lock=1 malloc;main;work=2");
  EXPECT_EQ(stacks(view_of(ProfileBuilder().sample("main;malloc", 1).drop("mal", ""))), "main;malloc=1")
      << "the expression is of the whole name";
  EXPECT_EQ(stacks(view_of(ProfileBuilder().sample("main;malloc", 1).drop("mal.*", "malloc"))), "main;malloc=1");
  EXPECT_EQ(stacks(view_of(ProfileBuilder().sample("main;ns::malloc(int)", 1).drop("ns::malloc"))), "main=1")
      << "without its arguments";
}

TEST(View, a_wrong_drop_expression_names_the_file_and_the_way_out) {
  const auto profile = ProfileBuilder().name("a.prof").sample("main", 1).drop("(").build();
  const auto view = make_view(profile, {});
  ASSERT_FALSE(view);
  EXPECT_EQ(view.error().file, "a.prof");
  EXPECT_NE(view.error().text().find("--keep-dropped-frames"), std::string::npos);
  EXPECT_TRUE(make_view(profile, {.keep_dropped_frames = true}));
}

// A file without a name counts as no file.
std::string of_trace(const std::vector<std::string>& stack_of_frames, const ViewRequest& request = {}) {
  ProfileBuilder builder;
  for (const std::string& frames : stack_of_frames) builder.sample(frames, 1);
  builder.profile().drops_interpreter_frames = true;
  return stacks(view_of(builder, request));
}

TEST(View, of_a_trace_the_interpreters_frames_are_dropped_wherever_they_stand) {
  const std::string mixed =
      "_start@??:0;Py_BytesMain@??:0;main@train.py:5;_PyEval_EvalFrameDefault@??:0;slot_tp_call@:0;step@model.py:9;"
      "cfunction_call.localalias@:0;THPVariable_mul@mul.cpp:0";
  EXPECT_EQ(of_trace({mixed}), "main;step;THPVariable_mul=1");
  EXPECT_EQ(of_trace({mixed}, {.keep_dropped_frames = true}),
            "_start;Py_BytesMain;main;_PyEval_EvalFrameDefault;slot_tp_call;step;cfunction_call.localalias;"
            "THPVariable_mul=1");
  EXPECT_EQ(stacks(view_of(ProfileBuilder().sample("_start@??:0;main@train.py:5", 1))), "_start;main=1")
      << "a profile's stacks are as its producer wants them";
  EXPECT_EQ(of_trace({mixed}, {.by = FrameBy::file}), "train.py;model.py;mul.cpp=1");
}

TEST(View, a_stack_of_the_interpreter_alone_has_no_frames_and_keeps_its_bytes) {
  const std::string alone = "_start@??:0;Py_BytesMain@??:0";
  EXPECT_EQ(of_trace({alone, "f@train.py:1"}), "=1 f=1");
  EXPECT_EQ(of_trace({alone, "f@train.py:1", "_start@??:0;f@train.py:1"}, {.hide = "f"}), "=1")
      << "hidden are those of which something could be seen";
}

TEST(View, frames_of_the_interpreter_can_be_filtered_by) {
  EXPECT_EQ(of_trace({"slot_tp_call@:0;f@train.py:1", "g@train.py:2"}, {.where = "function:slot_tp_call"}), "f=1");
  EXPECT_EQ(of_trace({"slot_tp_call@:0;f@train.py:1", "g@train.py:2"}, {.ignore = "slot_tp_call"}), "g=1");
}

TEST(View, by_line_parts_what_by_function_joins) {
  const ProfileBuilder builder = ProfileBuilder().sample("f@a.py:1", 1).sample("f@a.py:2", 2).sample("f@b.py:1", 4);
  EXPECT_EQ(view_of(builder).frames.size(), 2U);
  EXPECT_EQ(view_of(builder, {.by = FrameBy::line}).frames.size(), 3U);
  EXPECT_EQ(stacks(view_of(builder, {.by = FrameBy::file})), "a.py=1 a.py=2 b.py=4");
  EXPECT_EQ(view_of(builder, {.by = FrameBy::file}).frames.size(), 2U);
}

TEST(View, by_package_knows_libraries) {
  const ProfileView view =
      view_of(ProfileBuilder().sample(
                  "main@/home/me/train.py:1;f@/v/site-packages/jax/api.py:2;g@/v/site-packages/jax/b.py:3", 1),
              {.by = FrameBy::package});
  EXPECT_EQ(stacks(view), "train.py;jax;jax=1");
  ASSERT_EQ(view.frames.size(), 2U);
  EXPECT_TRUE(view.frames[0].is_library != view.frames[1].is_library);
}

TEST(View, profiles_without_functions_have_addresses) {
  ProfileBuilder builder;
  const LocationIndex inner = builder.address(0x10, "libtpu.so"), outer = builder.address(0x20, "python");
  builder.values({inner, outer}, {1, 64});
  builder.values({builder.address(0x10, "libc.so"), outer}, {1, 1});
  for (const FrameBy by : {FrameBy::function, FrameBy::line, FrameBy::file, FrameBy::package, FrameBy::address}) {
    const ProfileView view = view_of(builder, {.by = by});
    EXPECT_EQ(stacks(view), "0x20;0x10=64 0x20;0x10=1");
    EXPECT_EQ(view.frames.size(), 3U) << "one address in two modules is two frames";
  }
  EXPECT_EQ(stacks(view_of(builder, {.focus = "tpu"})), "0x20;0x10=64");
  EXPECT_EQ(stacks(view_of(builder, {.hide = "tpu"})), "0x20=64 0x20;0x10=1");
  EXPECT_EQ(stacks(view_of(builder, {.show = "tpu"})), "0x10=64");
}

TEST(View, other_values_can_be_chosen) {
  ProfileBuilder builder(
      {{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}});
  builder.values("main", {7, 700, 2, 200});
  EXPECT_EQ(view_of(builder).total, (Weight{200, 2, 0}));
  EXPECT_EQ(view_of(builder, {.value_type = "alloc_space"}).total, (Weight{700, 7, 0}));
  const auto wrong = make_view(builder.build(), {.value_type = "space"});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().text().find("alloc_objects, alloc_space, inuse_objects, inuse_space"), std::string::npos);
}

TEST(View, a_pair_of_values_has_a_name_and_leaves_out_what_has_nothing_of_it) {
  ProfileBuilder builder(
      {{"alloc_objects", "count"}, {"alloc_space", "bytes"}, {"inuse_objects", "count"}, {"inuse_space", "bytes"}});
  builder.values("main;a", {7, 700, 0, 0}).values("main;b", {2, 20, 2, 20}).values("main;c", {1, 0, 1, 0});
  EXPECT_EQ(view_of(builder, {.value_type = "alloc"}).total, (Weight{720, 10, 0}));
  EXPECT_EQ(view_of(builder, {.value_type = "alloc"}).sample_count(), 3U);
  const ProfileView live = view_of(builder, {.value_type = "inuse"});
  EXPECT_EQ(stacks(live), "main;b=20 main;c=0") << "of no bytes, yet there";
  EXPECT_FALSE(live.is_filtered);
  EXPECT_EQ(view_of(builder, {.value_type = "inuse", .keep_zeros = true}).sample_count(), 3U);
  EXPECT_TRUE(view_of(builder, {.where = "stack:b", .value_type = "inuse"}).is_filtered);
}

TEST(View, a_profile_without_value_types_is_an_error_not_a_crash) {
  EXPECT_FALSE(make_view(ProfileBuilder(std::vector<std::pair<std::string, std::string>>{}).build(), {}));
}

TEST(View, wrong_expressions_name_their_option) {
  for (const auto& [request, option] :
       {std::pair{ViewRequest{.focus = "("}, "--focus"}, std::pair{ViewRequest{.ignore = "("}, "--ignore"},
        std::pair{ViewRequest{.hide = "("}, "--hide"}, std::pair{ViewRequest{.show = "("}, "--show"}}) {
    const auto view = make_view(three().build(), request);
    ASSERT_FALSE(view);
    EXPECT_NE(view.error().text().find(option), std::string::npos);
  }
}

}  // namespace
}  // namespace hbmscope
