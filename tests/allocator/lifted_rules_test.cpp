// PyTorch's rules lifted one by one; those of XLA are compared with the naive allocator (bfc_test).
#include "allocator/reference/interface/lifted_rules.h"

#include <random>

#include <gtest/gtest.h>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/pytorch/caching_allocator.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::pytorch {
namespace {

class Lifted {
 public:
  explicit Lifted(const LiftedRules& lifted, std::string_view conf = "")
      : upstream_({1024 * gib, 1, Placement::ascending}), allocator_(upstream_, options_of(lifted, conf)) {}

  Allocation take(std::uint64_t bytes, std::uint32_t stream = 0, std::uint32_t private_pool = 0) {
    return allocator_.allocate({bytes, Space::default_memory, stream, 1, private_pool});
  }
  void free(const Allocation& block) { EXPECT_EQ(allocator_.free(block.address), FreeOutcome::freed); }
  std::uint64_t pool_bytes() const { return allocator_.statistics().pool_bytes; }
  const CachingAllocator& allocator() const { return allocator_; }

 private:
  static Options options_of(const LiftedRules& lifted, std::string_view conf) {
    Options options = options_from_conf(conf).value();
    options.lifted = lifted;
    return options;
  }

  VirtualAddresses upstream_;
  CachingAllocator allocator_;
};

constexpr LiftedRules none;

// 11 MiB and a byte get a segment of 12 MiB, of which they need 11 MiB and 512 B; a remainder of up to 1 MiB stays.
TEST(LiftedRules, without_unsplit_remainders_the_rest_serves_others) {
  for (const bool unsplit : {false, true}) {
    Lifted pool({.unsplit = unsplit});
    EXPECT_EQ(pool.take(11 * mib + 1).bytes, unsplit ? 11 * mib + 512 : 12 * mib);
  }
  for (const bool unsplit : {false, true}) {  // A block of 100 MiB is never split with this setting.
    Lifted pool({.unsplit = unsplit}, "max_split_size_mb:64");
    pool.free(pool.take(100 * mib));
    pool.take(30 * mib);
    EXPECT_EQ(pool.pool_bytes(), unsplit ? 100 * mib : 130 * mib);
  }
}

TEST(LiftedRules, without_rounding_a_block_is_the_request) {
  EXPECT_EQ(Lifted(none).take(1000).bytes, 1024U);
  EXPECT_EQ(Lifted({.rounding = true}).take(1000).bytes, 1000U);
  EXPECT_EQ(Lifted(none, "roundup_power2_divisions:1").take(5 * mib).bytes, 5 * mib);
  EXPECT_EQ(Lifted(none, "roundup_power2_divisions:2").take(5 * mib).bytes, 6 * mib);
  EXPECT_EQ(Lifted({.rounding = true}, "roundup_power2_divisions:2").take(5 * mib).bytes, 5 * mib);
}

TEST(LiftedRules, without_streams_a_free_block_serves_all) {
  for (const bool streams : {false, true}) {
    Lifted pool({.streams = streams});
    pool.free(pool.take(30 * mib, 1));
    pool.take(30 * mib, 2);
    EXPECT_EQ(pool.pool_bytes(), streams ? 30 * mib : 60 * mib);
  }
}

TEST(LiftedRules, without_private_pools_a_free_block_serves_all) {
  for (const bool private_pools : {false, true}) {
    Lifted pool({.private_pools = private_pools});
    pool.free(pool.take(30 * mib, 0, 7));
    pool.take(30 * mib);
    EXPECT_EQ(pool.pool_bytes(), private_pools ? 30 * mib : 60 * mib);
    pool.take(30 * mib, 0, 7);
    EXPECT_EQ(pool.pool_bytes(), 60 * mib);
  }
}

TEST(LiftedRules, a_pool_that_keeps_nothing_has_no_segment_without_a_block) {
  for (const char* conf : {"", "expandable_segments:True"})
    for (const bool kept : {false, true}) {
      Lifted pool({.kept = kept}, conf);
      pool.free(pool.take(40 * mib));
      EXPECT_EQ(pool.pool_bytes(), kept ? 0 : 40 * mib) << conf;
    }
}

// Whatever is lifted, blocks don't overlap, are as large as requested, and lie in the pool.
TEST(LiftedRules, whatever_is_lifted_the_books_are_right) {
  for (unsigned seed = 0; seed < 64; ++seed) {
    std::mt19937_64 random(seed);
    const LiftedRules lifted = {.rounding = (seed & 1) != 0,
                                .unsplit = (seed & 2) != 0,
                                .streams = (seed & 4) != 0,
                                .private_pools = (seed & 8) != 0,
                                .kept = (seed & 16) != 0};
    Lifted pool(lifted, (seed & 32) != 0 ? "expandable_segments:True" : "");
    std::vector<std::pair<Allocation, std::uint64_t>> live;
    std::uint64_t in_use = 0;
    for (int i = 0; i < 600; ++i) {
      if (!live.empty() && random() % 100 < (i / 100 % 2 == 0 ? 35U : 65U)) {
        const auto one = live.begin() + static_cast<std::ptrdiff_t>(random() % live.size());
        pool.free(one->first);
        in_use -= one->first.bytes;
        live.erase(one);
      } else {
        const std::uint64_t bytes = 1 + random() % (std::uint64_t{1} << (5 + random() % 22));
        const Allocation answer =
            pool.take(bytes, static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(random() % 3));
        ASSERT_EQ(answer.outcome, Outcome::allocated);
        ASSERT_GE(answer.bytes, bytes);
        ASSERT_TRUE(answer.bytes == bytes || !lifted.rounding || !lifted.unsplit);
        in_use += answer.bytes;
        live.emplace_back(answer, bytes);
      }
    }
    const Statistics statistics = pool.allocator().statistics();
    EXPECT_EQ(statistics.in_use_bytes, in_use);
    std::uint64_t in_blocks = 0, in_pool = 0, end = 0;
    for (const PoolBlock& block : pool.allocator().pool_blocks()) {
      EXPECT_GE(block.address, end);
      end = block.address + block.bytes;
      in_blocks += block.in_use ? block.bytes : 0;
    }
    for (const Claim& claim : pool.allocator().claims()) in_pool += claim.bytes;
    EXPECT_EQ(in_blocks, in_use);
    EXPECT_EQ(in_pool, statistics.pool_bytes);
    if (!lifted.kept) continue;
    for (const auto& [answer, bytes] : live) pool.free(answer);
    EXPECT_EQ(pool.pool_bytes(), 0U) << seed;
  }
}

}  // namespace
}  // namespace hbmscope::allocator::pytorch
