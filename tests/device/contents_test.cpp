// What can be read back from device memory.
#include <gtest/gtest.h>

#include <cstring>

#include "allocator/emulated/cuda/model/address_space.h"
#include "allocator/emulated/cuda/model/contents.h"

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

TEST(Contents, what_was_written_before_a_launch_is_older) {
  const Address begin = reserve_addresses(8 * page, page, Access::read_write);
  Contents contents(100 * page);
  contents.begin_write(begin, 8);
  EXPECT_EQ(contents.find_date(begin, 8), contents.now());
  EXPECT_EQ(contents.find_date(begin, 4), std::nullopt) << "a part of a write may be something else by now";
  EXPECT_EQ(contents.find_date(begin + page, 8), std::nullopt);
  contents.note_launch();
  EXPECT_EQ(contents.find_date(begin, 8), contents.now() - 1);
  EXPECT_TRUE(contents.is_known(begin, 8)) << "it is returned nevertheless";
  contents.begin_write(begin + page, 8, contents.find_date(begin, 8));
  EXPECT_EQ(contents.find_date(begin + page, 8), contents.now() - 1) << "a copy is as old as its source";
  contents.begin_write(begin, 8);
  EXPECT_EQ(contents.find_date(begin, 8), contents.now());
  release_addresses(begin, 8 * page);
}

TEST(Contents, zeros_are_certain_until_a_launch_and_in_any_part) {
  const Address begin = reserve_addresses(8 * page, page, Access::read_write);
  Contents contents(100 * page);
  contents.note_zeros(begin, page);
  EXPECT_EQ(contents.find_date(begin + 8, 8), contents.now());
  EXPECT_EQ(contents.find_date(begin + page - 4, 8), std::nullopt) << "its end is beyond them";
  EXPECT_EQ(contents.known_bytes(), 0u);
  contents.forget(begin + 16, 1);
  EXPECT_EQ(contents.find_date(begin, 8), std::nullopt);
  contents.note_zeros(begin, page);
  contents.note_launch();
  EXPECT_EQ(contents.find_date(begin, 8), std::nullopt);
  release_addresses(begin, 8 * page);
}

}  // namespace
}  // namespace hbmscope::device
