// The filter language applied to a profile's samples.
#include <gtest/gtest.h>

#include "tests/analysis/profile_builder.h"

namespace hbmscope {
namespace {

ProfileBuilder device_profile() {
  ProfileBuilder builder;
  builder.sample("main@train.py:1;adam@opt.py:7", 4096, 2, {{"device", "TPU_0(process=0)"}, {"kind", "buffer"}});
  builder.sample("main@train.py:1;sgd@opt.py:9", 100, 1, {{"device", "TPU_10(process=0)"}, {"kind", "buffer"}});
  builder.sample("", 7, 1, {{"kind", "executable"}});
  builder.unknown("main@train.py:1", 3, {{"kind", "executable"}});
  builder.sample("load@data.py:2", 50, 1, {{"bytes", "", 512, "bytes"}, {"tag", "a"}, {"tag", "b"}});
  return builder;
}

// The numbers of the samples that are left.
std::string left(std::string_view where, const ViewRequest& others = {}) {
  static const auto profile = device_profile().build();
  ViewRequest request = others;
  request.where = where;
  const auto view = make_view(profile, request);
  if (!view) return view.error().text();
  std::string numbers;
  for (std::size_t i = 0; i < view->sample_count(); ++i) numbers += std::to_string(view->sample(i));
  return numbers;
}

TEST(WhereView, size_is_of_one_and_bytes_of_all) {
  EXPECT_EQ(left("size=2KiB"), "0");
  EXPECT_EQ(left("bytes=4KiB"), "0");
  EXPECT_EQ(left("count=2"), "0");
  EXPECT_EQ(left("count=3"), "3") << "programs of unknown size are counted";
}

TEST(WhereView, an_unknown_size_is_neither_larger_nor_smaller) {
  EXPECT_EQ(left("size>=0"), "0124");
  EXPECT_EQ(left("size<1PiB"), "0124");
}

TEST(WhereView, functions_and_files_of_any_frame) {
  EXPECT_EQ(left("adam"), "0");
  EXPECT_EQ(left("stack:opt.py"), "01");
  EXPECT_EQ(left("function:opt"), "");
  EXPECT_EQ(left("file=train.py"), "013");
  EXPECT_EQ(left("-main"), "24");
}

TEST(WhereView, different_means_that_no_frame_is_equal) {
  EXPECT_EQ(left("function!=main"), left("-function=main"));
  EXPECT_EQ(left("function!=main"), "24");
  EXPECT_EQ(left("kind!=buffer"), "234");
  EXPECT_EQ(left("label!=kind=buffer"), "234");
  EXPECT_EQ(left("label!=kind=buffer"), left("-label=kind=buffer"));
}

TEST(WhereView, asks_for_functions_whatever_rows_are_made_of_them) {
  for (const FrameBy by : {FrameBy::line, FrameBy::file, FrameBy::package, FrameBy::address})
    EXPECT_EQ(left("function=adam", {.by = by}), "0");
  EXPECT_EQ(left("function=adam", {.hide = "adam"}), "0") << "a frame that is hidden is still a reason";
}

TEST(WhereView, a_bare_number_is_a_devices_id) {
  EXPECT_EQ(left("device:0"), "0");
  EXPECT_EQ(left("device:1"), "") << "not TPU_10";
  EXPECT_EQ(left("device:10"), "1");
  EXPECT_EQ(left("device!=0"), "1234");
  EXPECT_EQ(left("device:tpu_1"), "1");
  EXPECT_EQ(left("device:/_0\\(/"), "0");
}

TEST(WhereView, labels_are_matched_as_key_and_value) {
  EXPECT_EQ(left("label:kind=exec"), "23");
  EXPECT_EQ(left("label='bytes=512 bytes'"), "4");
  EXPECT_EQ(left("label=tag=b"), "4") << "the second label of one key too";
  EXPECT_EQ(left("label=tag=c"), "");
}

TEST(WhereView, frames_without_functions_are_their_address_and_module) {
  ProfileBuilder builder;
  builder.values({builder.address(0x4711, "/lib/libtpu.so")}, {1, 64});
  builder.values({builder.address(0x4712, "/lib/libc.so")}, {1, 64});
  EXPECT_EQ(view_of(builder, {.where = "0x4711"}).samples, (std::vector<std::uint32_t>{0}));
  EXPECT_EQ(view_of(builder, {.where = "file:libc"}).samples, (std::vector<std::uint32_t>{1}));
}

TEST(WhereView, what_profiles_cannot_answer_is_refused_with_the_reason) {
  EXPECT_NE(left("age>10s").find("no ages"), std::string::npos);
  EXPECT_NE(left("address:0x7f").find("no addresses"), std::string::npos);
}

TEST(WhereView, a_sample_with_a_hundred_thousand_labels_is_answered_at_once) {
  std::vector<TestLabel> labels;
  labels.reserve(100'000);
  for (int i = 0; i < 100'000; ++i) labels.push_back({"k" + std::to_string(i), "v"});
  ProfileBuilder builder;
  builder.sample("main", 1, 1, labels);
  EXPECT_EQ(view_of(builder, {.where = "label=k99999=v"}).samples.size(), 1U);
}

}  // namespace
}  // namespace hbmscope
