// Physical memory apart from addresses.
#include <gtest/gtest.h>

#include "allocator/emulated/cuda/model/machine.h"
#include "tests/sizes.h"

namespace hbmscope::device {
namespace {

struct VirtualMemoryTest : testing::Test {
  static Settings small() {
    Settings settings;
    settings.total_bytes = 10 * mib;
    return settings;
  }
  Machine machine{small()};
  Bytes taken() { return machine.device(0).ledger().taken_bytes(); }
};

TEST_F(VirtualMemoryTest, only_physical_memory_is_taken) {
  const Answer reserved = machine.reserve(1000 * mib, 0);
  ASSERT_EQ(reserved.outcome, Outcome::ok);
  EXPECT_EQ(taken(), 0u);
  const Answer physical = machine.create_physical(0, 4 * mib);
  EXPECT_EQ(taken(), 4 * mib);
  EXPECT_EQ(machine.map(reserved.address, 4 * mib, physical.address), Outcome::ok);
  EXPECT_EQ(taken(), 4 * mib);
  EXPECT_EQ(machine.find(reserved.address)->kind, Kind::mapped);
}

TEST_F(VirtualMemoryTest, memory_lives_until_it_is_released_and_unmapped) {
  const Answer reserved = machine.reserve(8 * mib, 0);
  const Answer physical = machine.create_physical(0, 4 * mib);
  machine.map(reserved.address, 4 * mib, physical.address);
  EXPECT_EQ(machine.release_physical(physical.address), Outcome::ok);
  EXPECT_EQ(taken(), 4 * mib);
  EXPECT_EQ(machine.unmap(reserved.address, 8 * mib), Outcome::ok);
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(machine.release_physical(physical.address), Outcome::invalid);
}

TEST_F(VirtualMemoryTest, a_second_owner_keeps_it) {
  const Answer physical = machine.create_physical(0, 2 * mib);
  machine.retain_physical(physical.address);
  machine.release_physical(physical.address);
  EXPECT_EQ(taken(), 2 * mib);
  machine.release_physical(physical.address);
  EXPECT_EQ(taken(), 0u);
}

TEST_F(VirtualMemoryTest, wrong_requests_change_nothing) {
  EXPECT_EQ(machine.create_physical(0, 3 * mib).outcome, Outcome::invalid);
  EXPECT_EQ(machine.create_physical(0, 12 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.reserve(3 * mib, 0).outcome, Outcome::invalid);
  const Answer reserved = machine.reserve(4 * mib, 0);
  const Answer physical = machine.create_physical(0, 4 * mib);
  EXPECT_EQ(machine.map(reserved.address + 2 * mib, 4 * mib, physical.address), Outcome::invalid);
  EXPECT_EQ(machine.map(reserved.address, 4 * mib, 77), Outcome::invalid);
  EXPECT_EQ(machine.map(reserved.address, 4 * mib, physical.address), Outcome::ok);
  EXPECT_EQ(machine.map(reserved.address, 2 * mib, physical.address), Outcome::invalid) << "mapped twice";
  EXPECT_EQ(machine.release_reservation(reserved.address, 2 * mib), Outcome::invalid);
  EXPECT_EQ(machine.free(reserved.address), Outcome::invalid) << "cuMemFree of mapped memory";
  EXPECT_EQ(taken(), 4 * mib);
}

TEST_F(VirtualMemoryTest, memory_of_the_host_takes_nothing) {
  const Answer physical = machine.create_physical(-1, 64 * mib);
  EXPECT_EQ(physical.outcome, Outcome::ok);
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(machine.release_physical(physical.address), Outcome::ok);
}

}  // namespace
}  // namespace hbmscope::device
