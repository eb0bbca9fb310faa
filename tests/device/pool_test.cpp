// Stream-ordered memory.
#include <gtest/gtest.h>

#include "allocator/emulated/cuda/model/machine.h"
#include "tests/sizes.h"

namespace hbmscope::device {
namespace {

struct PoolTest : testing::Test {
  static Settings small() {
    Settings settings;
    settings.total_bytes = 100 * mib;
    return settings;
  }
  Machine machine{small()};
  Pool& pool = machine.default_pool(0);
  Bytes taken() { return machine.device(0).ledger().taken_bytes(); }
};

TEST_F(PoolTest, grows_by_32_mib_and_keeps_freed_memory_until_the_program_synchronises) {
  const Answer answer = machine.allocate_from_pool(pool, 1000);
  EXPECT_EQ(taken(), 32 * mib);
  EXPECT_EQ(pool.bytes().used, 1024u);
  machine.free(answer.address);
  EXPECT_EQ(pool.bytes().used, 0u);
  EXPECT_EQ(taken(), 32 * mib);
  machine.has_synchronized();
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(pool.bytes().reserved_peak, 32 * mib);
}

TEST_F(PoolTest, keeps_free_memory_up_to_the_threshold) {
  pool.set_release_threshold(40 * mib);
  const Answer first = machine.allocate_from_pool(pool, 30 * mib), second = machine.allocate_from_pool(pool, 30 * mib);
  EXPECT_EQ(taken(), 64 * mib);
  machine.free(first.address);
  machine.free(second.address);
  machine.has_synchronized();
  EXPECT_EQ(taken(), 32 * mib);
  machine.trim_pool(pool, 0);
  EXPECT_EQ(taken(), 0u);
}

TEST_F(PoolTest, returns_free_memory_before_it_refuses) {
  pool.set_release_threshold(~Bytes{0});
  const Answer first = machine.allocate_from_pool(pool, 60 * mib);
  machine.free(first.address);
  EXPECT_EQ(machine.allocate_from_pool(pool, 90 * mib).outcome, Outcome::ok);
  EXPECT_EQ(taken(), 90 * mib) << "32 MiB steps don't fit: 2 MiB steps do";
  EXPECT_EQ(machine.allocate_from_pool(pool, 20 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(machine.allocate_from_pool(pool, ~Bytes{0}).outcome, Outcome::out_of_memory);
  EXPECT_EQ(taken(), 90 * mib);
}

TEST_F(PoolTest, a_destroyed_pool_returns_its_memory) {
  const std::uint64_t id = machine.create_pool(0, 0).id();
  const Answer answer = machine.allocate_from_pool(*machine.find_pool(id), mib);
  machine.free(answer.address);
  EXPECT_EQ(taken(), 32 * mib);
  EXPECT_EQ(machine.destroy_pool(id), Outcome::ok);
  EXPECT_EQ(taken(), 0u);
  EXPECT_EQ(machine.destroy_pool(id), Outcome::invalid);
  EXPECT_EQ(machine.destroy_pool(pool.id()), Outcome::invalid) << "the default pool stays";
}

TEST_F(PoolTest, a_block_goes_into_the_smallest_hole) {
  const Answer a = machine.allocate_from_pool(pool, 8 * mib);
  machine.allocate_from_pool(pool, mib);
  const Answer b = machine.allocate_from_pool(pool, 2 * mib);
  machine.allocate_from_pool(pool, mib);
  machine.free(a.address);
  machine.free(b.address);
  EXPECT_EQ(machine.allocate_from_pool(pool, 2 * mib).address, b.address);
  EXPECT_EQ(machine.allocate_from_pool(pool, 2 * mib).address, a.address);
}

}  // namespace
}  // namespace hbmscope::device
