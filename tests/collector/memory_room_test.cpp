#include "collector/inject/memory_room.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "collector/inject/shared_memory.h"

namespace hbmscope::inject {
namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              (std::string("groups_") + testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  std::uint64_t left(const std::string& groups) const {
    write("groups", groups);
    return group_bytes_left((folder_ / "groups").c_str(), (folder_ / "mount").c_str());
  }

 private:
  fs::path folder_;
};

TEST_F(ControlGroups, TheTightestOfTheGroupsAroundItCounts) {
  write("mount/pods/memory.max", "1000000\n");
  write("mount/pods/memory.current", "900000\n");
  write("mount/pods/one/memory.max", "500000\n");
  write("mount/pods/one/memory.current", "100000\n");
  EXPECT_EQ(left("0::/pods/one\n"), 100'000U);
  EXPECT_EQ(left("0::/pods\n"), 100'000U);
  EXPECT_EQ(left("0::/\n"), unlimited_bytes);
}

TEST_F(ControlGroups, FilesThatCanBeDroppedAreRoom) {
  write("mount/one/memory.max", "500000\n");
  write("mount/one/memory.current", "480000\n");
  write("mount/one/memory.stat", "anon 5\nactive_file 7\ninactive_file 300000\n");
  EXPECT_EQ(left("0::/one\n"), 320'000U);
}

TEST_F(ControlGroups, WithoutALimitThereIsNone) {
  write("mount/one/memory.max", "max\n");
  write("mount/one/memory.current", "480000\n");
  EXPECT_EQ(left("0::/one\n"), unlimited_bytes);
  write("mount/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("mount/memory/memory.usage_in_bytes", "1\n");
  EXPECT_EQ(left("5:cpu:/\n4:memory:/\n"), unlimited_bytes);
  EXPECT_EQ(left(""), unlimited_bytes);
  EXPECT_EQ(left("nonsense"), unlimited_bytes);
}

// The path is the host's; the container has its own group mounted as the root.
TEST_F(ControlGroups, InAContainerItsRootCounts) {
  write("mount/memory/memory.limit_in_bytes", "3000\n");
  write("mount/memory/memory.usage_in_bytes", "1000\n");
  write("mount/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 500\n");
  EXPECT_EQ(left("7:cpu,cpuacct:/docker/abc\n4:hugetlb,memory:/docker/abc\n0::/docker/abc\n"), 2500U);
}

TEST_F(ControlGroups, WhatIsAlreadyTooMuchLeavesNothing) {
  write("mount/one/memory.max", "500\n");
  write("mount/one/memory.current", "700\n");
  EXPECT_EQ(left("0::/one\n"), 0U);
}

TEST(SharedSizes, AreASixteenthOfWhatIsLeft) {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  const SharedSizes all = affordable_sizes(unlimited_bytes);
  EXPECT_EQ(all.ring_bytes, wire::ring_bytes_wanted);
  EXPECT_EQ(all.definitions_bytes, wire::definitions_bytes_wanted);
  for (const std::uint64_t left : {64 * gib, 16 * gib, 4 * gib, gib, gib / 2}) {
    const SharedSizes sizes = affordable_sizes(left);
    EXPECT_LE(sizes.bytes(), left / 16);
    EXPECT_GT(sizes.bytes(), left < 41 * gib ? left / 64 : 0) << "room that could be used";
    EXPECT_EQ(sizes.ring_bytes & (sizes.ring_bytes - 1), 0U);
    EXPECT_GE(sizes.own_rings, left < 2 * gib ? 64U : wire::rings_wanted) << "threads that call the driver have a ring";
    EXPECT_GE(sizes.ring_bytes, std::uint64_t{256} << 10) << "bursts need it";
  }
  EXPECT_LT(affordable_sizes(0).bytes(), std::uint64_t{12} << 20);
  EXPECT_GE(affordable_sizes(0).own_rings, 32U);
}

}  // namespace
}  // namespace hbmscope::inject
