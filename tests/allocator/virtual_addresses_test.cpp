#include "allocator/reference/interface/virtual_addresses.h"
#include "tests/sizes.h"

#include <gtest/gtest.h>

namespace hbmscope::allocator {
namespace {

constexpr std::uint64_t lowest = 0x100000000000;

TEST(VirtualAddresses, ascending_regions_begin_at_2_mib_and_leave_2_mib_between) {
  VirtualAddresses upstream({});
  EXPECT_EQ(upstream.claim(2 * mib)->base, lowest);
  EXPECT_EQ(upstream.claim(mib)->base, lowest + 4 * mib);
  EXPECT_EQ(upstream.claim(256)->base, lowest + 8 * mib);
}

TEST(VirtualAddresses, descending_regions_lie_below_each_other) {
  VirtualOptions options;
  options.placement = Placement::descending;
  VirtualAddresses upstream(options);
  EXPECT_EQ(upstream.claim(2 * mib)->base, 0x5fffffe00000U);
  EXPECT_EQ(upstream.claim(256)->base, 0x5fffffe00000U - 4 * mib);
}

TEST(VirtualAddresses, reuse_takes_the_lowest_place_with_room_around_it) {
  VirtualOptions options;
  options.placement = Placement::reuse;
  VirtualAddresses upstream(options);
  const Claim first = *upstream.claim(8 * mib);
  const Claim second = *upstream.claim(8 * mib);
  EXPECT_EQ(second.base, lowest + 10 * mib);
  upstream.release(first);
  EXPECT_EQ(upstream.claim(9 * mib)->base, lowest + 20 * mib);
  EXPECT_EQ(upstream.claim(8 * mib)->base, lowest);
}

TEST(VirtualAddresses, sizes_are_rounded_up_to_the_granularity) {
  VirtualOptions options;
  options.granularity = 2 * mib;
  VirtualAddresses upstream(options);
  EXPECT_EQ(upstream.claim(1)->bytes, 2 * mib);
  EXPECT_EQ(upstream.claim(2 * mib)->bytes, 2 * mib);
}

TEST(VirtualAddresses, a_device_gives_what_it_has_and_takes_it_back) {
  VirtualOptions options;
  options.device_bytes = 10 * mib;
  options.granularity = 2 * mib;
  VirtualAddresses upstream(options);
  const auto all = upstream.claim(9 * mib);
  ASSERT_TRUE(all);
  EXPECT_FALSE(upstream.claim(1));
  upstream.release(*all);
  EXPECT_EQ(upstream.claimed_bytes(), 0U);
  EXPECT_TRUE(upstream.claim(10 * mib));
}

TEST(VirtualAddresses, there_is_no_place_beyond_64_bits) {
  for (const Placement placement : {Placement::ascending, Placement::descending, Placement::reuse}) {
    VirtualOptions options;
    options.placement = placement;
    VirtualAddresses upstream(options);
    EXPECT_FALSE(upstream.claim(~std::uint64_t{0}));
    EXPECT_FALSE(upstream.claim(std::uint64_t{0} - lowest));
    EXPECT_TRUE(upstream.claim(mib));
  }
}

}  // namespace
}  // namespace hbmscope::allocator
