#include "allocator/reference/interface/host_memory.h"
#include "tests/sizes.h"

#include <cstring>

#include <gtest/gtest.h>

namespace hbmscope::allocator {
namespace {

void fill(const Claim& claim, int value) {
  std::memset(reinterpret_cast<void*>(claim.base), value, claim.bytes);
}
int first_byte(const Claim& claim) {
  return *reinterpret_cast<const unsigned char*>(claim.base);
}

TEST(HostMemory, regions_are_memory_on_whole_pages_from_a_multiple_of_2_mib) {
  HostMemory upstream({});
  const auto first = upstream.claim(5000), second = upstream.claim(3 * mib);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->bytes, 8192U);
  EXPECT_EQ(first->base % (2 * mib), 0U);
  EXPECT_EQ(second->base % (2 * mib), 0U);
  fill(*first, 1);
  fill(*second, 2);
  EXPECT_EQ(first_byte(*first), 1);
  EXPECT_EQ(upstream.claimed_bytes(), 8192 + 3 * mib);
  upstream.release(*first);
  upstream.release(*second);
  EXPECT_EQ(upstream.claimed_bytes(), 0U);
}

TEST(HostMemory, a_limit_refuses_and_what_comes_back_counts_again) {
  HostMemory upstream({.limit_bytes = 4 * mib});
  const auto first = upstream.claim(3 * mib);
  EXPECT_FALSE(upstream.claim(2 * mib));
  EXPECT_FALSE(upstream.claim(~std::uint64_t{0}));
  upstream.release(*first);
  EXPECT_TRUE(upstream.claim(4 * mib));
}

TEST(HostMemory, reserved_addresses_take_memory_when_it_is_mapped_and_are_empty_when_mapped_again) {
  HostMemory upstream({.limit_bytes = 4 * mib});
  const auto base = upstream.reserve(std::uint64_t{1} << 32);
  ASSERT_TRUE(base);
  EXPECT_EQ(upstream.claimed_bytes(), 0U);
  const Claim low{*base + 2 * mib, 2 * mib};
  ASSERT_TRUE(upstream.map(low));
  fill(low, 7);
  EXPECT_FALSE(upstream.map({*base + 8 * mib, 4 * mib}));
  upstream.unmap(low);
  ASSERT_TRUE(upstream.map(low));
  EXPECT_EQ(first_byte(low), 0);
  upstream.unmap(low);
  upstream.unreserve({*base, std::uint64_t{1} << 32});
}

}  // namespace
}  // namespace hbmscope::allocator
