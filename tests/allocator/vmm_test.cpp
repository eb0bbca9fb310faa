#include "allocator/reference/simple/vmm.h"

#include <gtest/gtest.h>

#include "allocator/reference/interface/virtual_addresses.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::vmm {
namespace {

struct Bench {
  explicit Bench(std::uint64_t limit_bytes) : allocator(upstream, {limit_bytes}) {}
  Allocation take(std::uint64_t bytes) { return allocator.allocate({.bytes = bytes}); }
  void free(const Allocation& block) { EXPECT_EQ(allocator.free(block.address), FreeOutcome::freed); }
  std::uint64_t pool_bytes() const { return allocator.statistics().pool_bytes; }

  VirtualAddresses upstream{{}};
  Vmm allocator;
};

TEST(Vmm, a_request_takes_a_multiple_of_the_granularity) {
  Bench bench(100 * mib);
  EXPECT_EQ(bench.take(1).bytes, 2 * mib);
  EXPECT_EQ(bench.take(3 * mib).bytes, 4 * mib);
  EXPECT_EQ(bench.upstream.claimed_bytes(), 6 * mib);
}

TEST(Vmm, what_is_freed_serves_its_size_only_and_the_longest_waiting_first) {
  Bench bench(100 * mib);
  const Allocation first = bench.take(3 * mib), second = bench.take(4 * mib);
  bench.free(second);
  bench.free(first);
  EXPECT_NE(bench.take(2 * mib).address, second.address);  // Not split.
  EXPECT_EQ(bench.pool_bytes(), 10 * mib);
  EXPECT_EQ(bench.take(4 * mib).address, second.address);
  EXPECT_EQ(bench.take(4 * mib).address, first.address);
  EXPECT_EQ(bench.pool_bytes(), 10 * mib);
}

TEST(Vmm, the_queue_counts_against_the_budget_and_goes_back_when_it_is_needed) {
  Bench bench(10 * mib);
  const Allocation first = bench.take(6 * mib), second = bench.take(2 * mib);
  bench.free(first);
  EXPECT_EQ(bench.take(4 * mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.pool_bytes(), 6 * mib);
  EXPECT_EQ(bench.take(6 * mib).outcome, Outcome::out_of_memory);
  bench.free(second);
  EXPECT_EQ(bench.take(6 * mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.upstream.claimed_bytes(), 10 * mib);
}

TEST(Vmm, a_budget_that_is_no_multiple_of_the_granularity_is_never_exceeded) {
  Bench bench(5 * mib);
  EXPECT_EQ(bench.take(3 * mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.take(1).outcome, Outcome::out_of_memory);
}

}  // namespace
}  // namespace hbmscope::allocator::vmm
