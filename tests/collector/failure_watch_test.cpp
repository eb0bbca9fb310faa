// Which refusals by the driver are failures: those without a retry.
#include <gtest/gtest.h>

#include "collector/serve/failure_watch.h"

namespace hbmscope::serve {
namespace {

constexpr std::int64_t second = 1'000'000'000;

TEST(FailureWatch, ARefusalIsAFailureWhenPatienceOrTheProcessEnds) {
  FailureWatch watch;
  watch.note_refusal(1, 100, "GPU 0", "cuMemAlloc_v2", second);
  EXPECT_TRUE(watch.take(second + retry_patience_ns - 1, false).empty());
  const auto found = watch.take(second + retry_patience_ns, false);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].is_refusal);
  EXPECT_EQ(found[0].requested_bytes, 100U);
  EXPECT_EQ(found[0].heap, "GPU 0");
  EXPECT_EQ(found[0].what, "cuMemAlloc_v2");
  EXPECT_TRUE(watch.take(9 * retry_patience_ns, true).empty());
  watch.note_refusal(1, 100, "GPU 0", "cuMemAlloc_v2", second);
  EXPECT_EQ(watch.take(second, true).size(), 1U);
}

TEST(FailureWatch, ARetryIsOfTheSameHeapAndOfHalfAtLeast) {
  FailureWatch watch;
  watch.note_refusal(1, 1000, "", "", 0);
  watch.note_taken(1, 499);
  watch.note_taken(2, 5000);
  EXPECT_EQ(watch.take(0, true).size(), 1U);
  watch.note_refusal(1, 1000, "", "", 0);
  watch.note_taken(1, 500);
  EXPECT_TRUE(watch.take(0, true).empty());
  watch.note_refusal(0, 0, "", "cuCtxCreate", 0);
  watch.note_taken(2, 1);
  EXPECT_TRUE(watch.take(0, true).empty());
}

TEST(FailureWatch, UntilThenItIsPending) {
  FailureWatch watch;
  EXPECT_EQ(watch.pending(), 0U);
  watch.note_refusal(1, 1000, "", "", 0);
  watch.note_refusal(2, 3000, "", "", 0);
  EXPECT_EQ(watch.pending(), 2U);
  EXPECT_EQ(watch.pending_bytes(), 3000U);
  watch.note_taken(2, 2700);
  EXPECT_EQ(watch.pending(), 1U);
  EXPECT_EQ(watch.pending_bytes(), 1000U);
  EXPECT_EQ(watch.take(retry_patience_ns, false).size(), 1U);
  EXPECT_EQ(watch.pending(), 0U);
}

TEST(FailureWatch, AStartThatBacksOffIsNone) {
  FailureWatch watch;
  std::uint64_t requested = 1'000'000;
  for (int step = 0; step < 20; ++step, requested = requested * 9 / 10)
    watch.note_refusal(1, requested, "", "", step * second);
  watch.note_taken(1, requested);
  EXPECT_TRUE(watch.take(99 * second, true).empty());
}

TEST(FailureWatch, AnOutOfMemoryIsOneWithTheRefusalsThatLedToIt) {
  FailureWatch watch;
  watch.note_refusal(1, 100, "", "", 0);
  watch.note_out_of_memory(100, "pool", "why");
  const auto found = watch.take(0, true);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].is_refusal);
  EXPECT_EQ(found[0].heap, "pool");
}

TEST(FailureWatch, ManyAreCountedAndNotKept) {
  FailureWatch watch;
  for (int i = 0; i < 100'000; ++i) watch.note_out_of_memory(1, "", "");
  const auto found = watch.take(0, false);
  EXPECT_LT(found.size(), 100U);
  std::uint64_t times = 0;
  for (const Failure& one : found) times += one.times;
  EXPECT_EQ(times, 100'000U);
}

}  // namespace
}  // namespace hbmscope::serve
