#include "allocator/reference/xla_gpu/sizes.h"

#include <gtest/gtest.h>

namespace hbmscope::allocator::xla_gpu {
namespace {

TEST(Sizes, are_rounded_up_to_256_bytes) {
  EXPECT_EQ(rounded_bytes(1), 256U);
  EXPECT_EQ(rounded_bytes(256), 256U);
  EXPECT_EQ(rounded_bytes(349175809), 349176064U);
}

TEST(Sizes, bins_double_and_the_last_has_no_end) {
  EXPECT_EQ(bin_of(1), 0U);
  for (unsigned bin = 0; bin < bin_count; ++bin) {
    EXPECT_EQ(bin_of(bin_bytes(bin)), bin);
  }
  for (unsigned bin = 1; bin < bin_count; ++bin) {
    EXPECT_EQ(bin_of(bin_bytes(bin) - 1), bin - 1);
  }
  EXPECT_EQ(bin_bytes(20), std::uint64_t{256} << 20);
  EXPECT_EQ(bin_of(std::uint64_t{1} << 50), 20U);
}

TEST(Sizes, back_pedalling_is_in_single_precision) {
  // The successive requests to the driver for a pool of 12 GiB on a device with 9.2 GiB left.
  EXPECT_EQ(backpedaled_bytes(12884901888), 11596410880U);
  EXPECT_EQ(backpedaled_bytes(11596410880), 10436769792U);
  EXPECT_EQ(backpedaled_bytes(10436769792), 9393092608U);
}

TEST(Sizes, back_pedalling_stands_still_at_2304_bytes) {
  EXPECT_EQ(backpedaled_bytes(2816), 2560U);
  EXPECT_EQ(backpedaled_bytes(2560), 2304U);
  for (std::uint64_t bytes = 256; bytes <= 2304; bytes += 256) EXPECT_EQ(backpedaled_bytes(bytes), bytes);
}

TEST(Sizes, alignment) {
  EXPECT_EQ(align_up(257, 256), 512U);
  EXPECT_EQ(align_up(512, 256), 512U);
  EXPECT_EQ(align_down(1023, 512), 512U);
}

}  // namespace
}  // namespace hbmscope::allocator::xla_gpu
