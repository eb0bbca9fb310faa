#include "allocator/reference/replay/player.h"

#include "allocator/reference/replay/verdict.h"
#include "tests/allocator/stream_text.h"

namespace hbmscope::allocator {
namespace {

ReplayResult play_text(const std::string& text) {
  const RequestStream stream = stream_of(text);
  return play(stream, options_of(stream.config, version_of(stream.config)));
}

TEST(Player, counts_what_happened) {
  const ReplayResult result = play_text(small_stream);
  EXPECT_EQ(result.operations, 7U);
  EXPECT_EQ(result.allocations, 4U);
  EXPECT_EQ(result.frees, 2U);
  EXPECT_EQ(result.refused, 1U);
  EXPECT_EQ(result.zero_requests, 0U);
  EXPECT_EQ(result.driver_claims, 1U);
  EXPECT_EQ(result.driver_refusals, 0U);
  EXPECT_EQ(result.in_use_bytes, 38331392U);
  EXPECT_EQ(result.requested_bytes, 20000700U);
  EXPECT_EQ(result.peak_in_use_bytes, 50331648U);
  EXPECT_EQ(result.peak_operation, 4U);
  EXPECT_EQ(result.peak_requested_bytes, 32000710U);
  EXPECT_EQ(result.chunks, 3U);
}

TEST(Player, the_first_failure_is_kept_as_it_was) {
  const ReplayResult result = play_text(small_stream);
  ASSERT_TRUE(result.first_failure);
  const ReplayFailure& failure = *result.first_failure;
  EXPECT_EQ(failure.operation, 6U);
  EXPECT_EQ(failure.line, 9U);
  EXPECT_EQ(failure.request.bytes, 30000000U);
  EXPECT_EQ(failure.fault, Fault::none);
  EXPECT_EQ(failure.free_bytes, 12000256U);
  EXPECT_EQ(failure.largest_usable_bytes, 12000256U);
  EXPECT_EQ(failure.driver_left_bytes, 0U);
}

TEST(Player, what_the_driver_has_left_is_the_least_of_limit_and_device) {
  const ReplayResult result = play_text(R"({"config":{"total_bytes":16777216,"allow_growth":1,"device_bytes":6291456}}
["a",1,2097152]
["a",2,9437184]
)");
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->driver_left_bytes, 4194304U);
  EXPECT_GT(result.driver_refusals, 0U);
}

TEST(Player, a_request_may_fail_for_the_region_that_would_have_served_it) {
  RequestStream stream = stream_of("{\"config\":{\"total_bytes\":16777216}}\n[\"a\",1,9437184]\n");
  stream.config.upstream.device_bytes = 16 << 20;
  const ReplayResult result = play(stream, pytorch::Options{});
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->last_refused_bytes, 20U << 20);  // A segment.
  EXPECT_EQ(result.first_failure->driver_left_bytes, 16U << 20);
  EXPECT_EQ(verdict_of(*result.first_failure), ReplayVerdict::segment);
}

TEST(Player, a_fault_ends_it) {
  const ReplayResult result = play_text(R"({"config":{"total_bytes":17825792,"spatial":1,"granularity":16777216}}
["a",1,1]
["a",2,34603008]
["a",3,1]
)");
  EXPECT_EQ(result.fault, Fault::second_gap);
  EXPECT_EQ(result.operations, 2U);
  ASSERT_TRUE(result.first_failure);
  EXPECT_EQ(result.first_failure->fault, Fault::second_gap);
}

TEST(Player, a_refused_id_can_be_freed_and_requested_again) {
  const ReplayResult result = play_text(R"({"config":{"total_bytes":1048576}}
["a",1,2097152,"oom"]
["a",1,256,0,0,256]
["f",1]
["a",2,0,"zero"]
["f",2,"noop"]
)");
  EXPECT_EQ(result.allocations, 1U);
  EXPECT_EQ(result.frees, 1U);
  EXPECT_EQ(result.zero_requests, 1U);
  EXPECT_EQ(result.in_use_bytes, 0U);
  EXPECT_EQ(result.requested_bytes, 0U);
}

TEST(Player, speed_is_of_operations_and_knows_the_largest_free_chunk) {
  const RequestStream stream = stream_of(small_stream);
  const auto speed = measure_speed(stream, options_of(stream.config, version_of(stream.config)));
  ASSERT_TRUE(speed);
  EXPECT_GT(speed->ns_per_operation, 0);
  const std::uint64_t pool = 50331648;
  EXPECT_EQ(speed->largest_free_sum,
            (pool - 768) + (pool - 12000768) + (pool - 12001024) + 0 + 12000000 + 12000256 + 12000256);
  EXPECT_FALSE(measure_speed(stream_of("{\"config\":{\"total_bytes\":1024}}\n"),
                             options_of(stream.config, xla_gpu::Version::classic)));
}

}  // namespace
}  // namespace hbmscope::allocator
