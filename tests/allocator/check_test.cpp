// A recorded stream with one answer changed is caught, and at that line.
#include "allocator/reference/replay/check.h"

#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {
namespace {

CheckResult check_text(const std::string& text) {
  const RequestStream stream = stream_of(text);
  return check(stream, options_of(stream.config, version_of(stream.config)));
}

void expect_difference(std::string_view from, std::string_view to, std::uint32_t line, const std::string& what) {
  const CheckResult result = check_text(replaced(small_stream, from, to));
  ASSERT_TRUE(result.difference) << from << " -> " << to;
  EXPECT_EQ(result.difference->line, line) << from << " -> " << to;
  EXPECT_EQ(result.difference->what, what) << from << " -> " << to;
  EXPECT_NE(result.difference->recorded, result.difference->replayed);
}

TEST(Check, a_stream_that_the_original_answered_agrees) {
  const CheckResult result = check_text(small_stream);
  EXPECT_FALSE(result.difference);
  EXPECT_EQ(result.answers, 7U);
  EXPECT_EQ(result.events, 1U);
  EXPECT_EQ(result.states, 1U);
  EXPECT_EQ(result.without_answer, 0U);
  EXPECT_TRUE(result.unknown_names.empty());
}

TEST(Check, every_answer_is_compared) {
  expect_difference("\"size\":50331648", "\"size\":50331649", 2, "the region");
  expect_difference("\"asked\":50331648", "\"asked\":1", 2, "the region");
  expect_difference("0x100000000000", "0x100000000001", 2, "the region");
  expect_difference("{\"region\":0", "{\"region\":1", 2, "the region");
  expect_difference("0,0,768]", "1,0,768]", 3, "the answer");
  expect_difference("0,0,768]", "0,256,768]", 3, "the answer");
  expect_difference("0,0,768]", "0,0,1280]", 3, "the answer");
  expect_difference("[\"f\",2]", "[\"f\",2,\"noop\"]", 7, "the answer");
  expect_difference("\"oom\"]", "0,0,30000000]", 9, "the answer");
  expect_difference("[\"f\",3]", "{\"suballoc_fail\":256}\n[\"f\",3]", 8, "the region");
  expect_difference("{\"final\":7", "{\"final\":8", 10, "the number of operations so far");
}

TEST(Check, every_figure_of_a_state_is_compared) {
  for (const std::string name :
       {"bytes_in_use", "peak_bytes_in_use", "num_allocs", "largest_alloc_size", "largest_free_block", "bytes_limit",
        "bytes_reserved", "pool_bytes", "peak_pool_bytes", "chunks", "free_chunks", "free_bytes"})
    expect_difference("\"" + name + "\":", "\"" + name + "\":1", 10, name);
  expect_difference("\"fragmentation\":0", "\"fragmentation\":0.5", 10, "fragmentation");
  expect_difference("\"fragmentation\":0", "\"fragmentation\":null", 10, "fragmentation");
  expect_difference("f71808d0", "f71808d1", 10, "fnv1a");
  expect_difference("[17,38330624", "[17,38330623", 10, "bin 17 (bytes in use, bytes, chunks in use, chunks)");
  expect_difference(",[20,0,0,0,0]", "", 10, "the number of bins");
  expect_difference("\"region_order\":[0]", "\"region_order\":[0,1]", 10, "region_order");
  expect_difference("[0,768,12000256,0]", "[0,768,12000256,1]", 10, "chunk 1 of chunk_list");
  expect_difference(",[0,12001024,38330624,1]", "", 10, "chunk 2 of chunk_list");
}

TEST(Check, a_region_that_is_not_in_the_file_is_a_difference) {
  const CheckResult result = check_text(
      replaced(small_stream, "{\"region\":0,\"size\":50331648,\"asked\":50331648,\"base\":\"0x100000000000\"}\n", ""));
  ASSERT_TRUE(result.difference);
  EXPECT_EQ(result.difference->line, 2U);
  EXPECT_EQ(result.difference->recorded, "no more");
}

// A pool of 6 MiB that grows. The driver had 5 MiB in steps of 2 MiB, and places regions where it likes.
const std::string stream_of_a_driver =
    R"({"config":{"total_bytes":6291456,"allow_growth":1,"granularity":2097152,"recorded_driver":1}}
{"region":0,"size":2097152,"asked":2097152,"base":"0x7f0000600000"}
["a",1,100000,0,0,100096]
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"suballoc_fail":4194304}
{"region":1,"size":2097152,"asked":2097152,"base":"0x7f0000000000"}
["a",2,2000000,1,0,2097152]
["f",2]
["a",3,1000,0,100096,1024]
)";

TEST(Check, a_recorded_driver_serves_and_refuses_what_it_did) {
  const auto difference_with = [](std::string_view from, std::string_view to) {
    return check_text(replaced(stream_of_a_driver, from, to)).difference;
  };
  const CheckResult result = check_text(stream_of_a_driver);
  ASSERT_FALSE(result.difference) << result.difference->recorded << " / " << result.difference->replayed;
  EXPECT_EQ(result.events, 9U);
  EXPECT_EQ(result.answers, 4U);
  // One refusal less, a region of another size, and one on top of the other.
  EXPECT_EQ(difference_with("{\"suballoc_fail\":4194304}\n", "")->what, "the region");
  EXPECT_EQ(difference_with("1,\"size\":2097152", "1,\"size\":4194304")->what, "the region");
  EXPECT_EQ(difference_with("0x7f0000000000", "0x7f0000600000")->what, "the region");
}

TEST(Check, a_fault_is_a_difference) {
  const CheckResult result = check_text(R"({"config":{"total_bytes":17825792,"spatial":1,"granularity":16777216}}
{"region":0,"size":33554432,"asked":17825792,"base":"0x100000000000"}
["a",1,1,0,0,256]
{"region":1,"size":50331648,"asked":35651584,"base":"0x100002200000"}
["a",2,34603008,1,0,34603008]
)");
  ASSERT_TRUE(result.difference);
  EXPECT_EQ(result.difference->line, 5U);
  EXPECT_NE(result.difference->replayed.find("one central gap"), std::string::npos);
}

TEST(Check, requests_without_answers_are_counted_and_unknown_figures_named) {
  const CheckResult result = check_text(R"({"config":{"total_bytes":1048576}}
{"region":0,"size":1048576,"asked":1048576,"base":"0x100000000000"}
["a",1,256]
{"snap":1,"bytes_in_use":256,"moon_phase":3,"colour":"red"}
)");
  EXPECT_FALSE(result.difference);
  EXPECT_EQ(result.without_answer, 1U);
  EXPECT_EQ(result.unknown_names, (std::set<std::string>{"colour", "moon_phase"}));
}

TEST(Check, another_version_differs_where_its_rules_do) {
  const RequestStream stream = stream_of(replaced(small_stream, "\"spatial\":0", "\"spatial\":1"));
  const CheckResult result = check(stream, options_of(stream.config, xla_gpu::Version::spatial_v2));
  ASSERT_TRUE(result.difference);
  EXPECT_EQ(result.difference->line, 6U);  // The rest of the gap is not given along any more.
}

}  // namespace
}  // namespace hbmscope::allocator
