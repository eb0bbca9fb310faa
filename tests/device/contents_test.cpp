// What can be read back from device memory.
#include <gtest/gtest.h>

#include <cstring>

#include "allocator/device/model/address_space.h"
#include "allocator/device/model/contents.h"

namespace hbmscope::device {
namespace {

constexpr Bytes page = 4096;

TEST(AddressSpace, memory_that_was_discarded_reads_as_zeros) {
  const Address begin = reserve_addresses(8 * page, page, Access::read_write);
  auto* bytes = reinterpret_cast<char*>(begin);
  std::memset(bytes, 1, 8 * page);
  discard_contents(begin + 10, 3 * page);
  EXPECT_EQ(bytes[9], 1);
  EXPECT_EQ(bytes[10], 0);
  EXPECT_EQ(bytes[page], 0);
  EXPECT_EQ(bytes[3 * page + 9], 0);
  EXPECT_EQ(bytes[3 * page + 10], 1);
  release_addresses(begin, 8 * page);
}

TEST(Contents, only_a_whole_write_is_known) {
  const Address begin = reserve_addresses(8 * page, page, Access::read_write);
  Contents contents(100 * page);
  EXPECT_TRUE(contents.begin_write(begin, 1000));
  EXPECT_TRUE(contents.is_known(begin, 1000));
  EXPECT_FALSE(contents.is_known(begin, 4));
  EXPECT_FALSE(contents.is_known(begin + 4, 996));
  EXPECT_TRUE(contents.begin_write(begin + 999, 1)) << "one byte of it is another write";
  EXPECT_FALSE(contents.is_known(begin, 1000));
  EXPECT_EQ(contents.known_bytes(), 1u);
  contents.forget(begin, 8 * page);
  EXPECT_EQ(contents.known_bytes(), 0u);
  release_addresses(begin, 8 * page);
}

TEST(Contents, no_more_than_the_limit_is_kept) {
  const Address begin = reserve_addresses(8 * page, page, Access::read_write);
  Contents contents(2 * page);
  EXPECT_TRUE(contents.begin_write(begin, 2 * page));
  EXPECT_FALSE(contents.begin_write(begin + 4 * page, page));
  EXPECT_TRUE(contents.begin_write(begin, 2 * page)) << "the same again takes no more";
  EXPECT_TRUE(contents.begin_write(begin + page, 2 * page)) << "what it overlaps gives its room back";
  EXPECT_EQ(contents.known_bytes(), 2 * page);
  release_addresses(begin, 8 * page);
}

}  // namespace
}  // namespace hbmscope::device
