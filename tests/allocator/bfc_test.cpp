// The rules one by one, and all of them compared with the naive allocator.
#include "allocator/reference/xla_gpu/bfc.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/allocator/bfc_trial.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::xla_gpu {
namespace {

constexpr std::uint64_t base = 0x100000000000;

// An allocator over as much as it wants.
struct Bench {
  explicit Bench(const Options& options, const VirtualOptions& device = {})
      : upstream(device), bfc(upstream, options) {}
  Bench(Version version, std::uint64_t limit_bytes) : Bench(options_of(version, limit_bytes)) {}
  static Options options_of(Version version, std::uint64_t limit_bytes) {
    Options options;
    options.version = version;
    options.limit_bytes = limit_bytes;
    return options;
  }

  Allocation take(std::uint64_t bytes, Space space = Space::default_memory, std::uint64_t alignment = 1) {
    return bfc.allocate({bytes, space, 0, alignment});
  }
  std::uint64_t offset_of(std::uint64_t bytes, Space space = Space::default_memory, std::uint64_t alignment = 1) {
    const Allocation answer = take(bytes, space, alignment);
    EXPECT_EQ(answer.outcome, Outcome::allocated);
    return answer.address - base;
  }
  void free(std::uint64_t offset) { EXPECT_EQ(bfc.free(base + offset), FreeOutcome::freed); }

  VirtualAddresses upstream;
  Bfc bfc;
};

TEST(Bfc, seeded_requests_and_the_naive_allocator) {
  int faults = 0;
  for (const VersionRules& version : all_versions()) {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      Trial trial = make_trial(seed, version.version);
      ASSERT_EQ(run_trial(seed, trial), "") << version.name << ", seed " << seed;
      faults += trial.ends_in_fault ? 1 : 0;
    }
  }
  EXPECT_GT(faults, 0);    // They are compared too,
  EXPECT_LT(faults, 150);  // and most trials are not over before they began.
}

TEST(Bfc, seeded_requests_and_the_naive_allocator_with_lifted_rules) {
  for (const VersionRules& version : all_versions()) {
    for (std::uint64_t seed = 1; seed <= 64; ++seed) {
      Trial trial = make_trial(seed + 1000, version.version);
      trial.operations = 1500;
      LiftedRules& lifted = trial.options.lifted;
      lifted.rounding = (seed & 1) != 0;
      lifted.unsplit = (seed & 2) != 0;
      lifted.ends = (seed & 4) != 0;
      lifted.kept = (seed & 8) != 0;
      ASSERT_EQ(run_trial(seed, trial), "") << version.name << ", seed " << seed;
    }
  }
}

TEST(Bfc, nothing_is_claimed_before_the_first_request) {
  Bench bench(Version::classic, 64 * mib);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 0U);
  EXPECT_EQ(bench.upstream.claimed_bytes(), 0U);
  bench.take(1);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 64 * mib);
}

TEST(Bfc, regions_go_back_with_the_allocator) {
  VirtualAddresses upstream({});
  {
    Bfc bfc(upstream, Bench::options_of(Version::classic, 64 * mib));
    bfc.allocate({1, Space::default_memory, 0, 1});
    EXPECT_EQ(upstream.claimed_bytes(), 64 * mib);
  }
  EXPECT_EQ(upstream.claimed_bytes(), 0U);
}

TEST(Bfc, a_request_is_rounded_up_to_256_bytes_and_zero_is_none) {
  Bench bench(Version::classic, 64 * mib);
  EXPECT_EQ(bench.take(0).outcome, Outcome::zero_bytes);
  EXPECT_EQ(bench.take(1).bytes, 256U);
  EXPECT_EQ(bench.take(256).bytes, 256U);
  EXPECT_EQ(bench.take(257).bytes, 512U);
  EXPECT_EQ(bench.bfc.statistics().in_use_bytes, 1024U);
}

TEST(Bfc, the_smallest_chunk_that_fits_serves_and_the_lowest_of_equals) {
  Bench bench(Version::classic, 64 * mib);
  for (int i = 0; i < 8; ++i) bench.offset_of(i % 2 == 0 ? 1024 : 256);  // 1,280 apart.
  bench.offset_of(2048);
  bench.offset_of(256);
  bench.free(1280);
  bench.free(5120);  // The 2,048 bytes.
  bench.free(0);
  EXPECT_EQ(bench.offset_of(900), 0U);
  EXPECT_EQ(bench.offset_of(1000), 1280U);
  EXPECT_EQ(bench.offset_of(1025), 5120U);
}

TEST(Bfc, a_chunk_is_split_if_the_rest_is_as_large_again_or_128_mib) {
  Bench bench(Version::classic, 1024 * mib);
  bench.offset_of(1024);
  bench.offset_of(256);
  bench.free(0);
  EXPECT_EQ(bench.take(768).bytes, 1024U);
  bench.free(0);
  EXPECT_EQ(bench.take(512).bytes, 512U);
  // 1,023 MiB are left: 900 and 128 are not, 895 and 128 are.
  EXPECT_EQ(bench.take(895 * mib).bytes, 895 * mib);
  Bench other(Version::classic, 1024 * mib);
  EXPECT_EQ(other.take(897 * mib).bytes, 1024 * mib);
}

TEST(Bfc, the_threshold_is_a_fraction_of_the_limit_where_one_is_set) {
  Options options = Bench::options_of(Version::classic, 1000 * mib);
  options.fragmentation_fraction = 0.01;
  Bench bench(options);
  EXPECT_EQ(bench.take(991 * mib).bytes, 1000 * mib);
  bench.free(0);
  EXPECT_EQ(bench.take(990 * mib).bytes, 990 * mib);
}

TEST(Bfc, alignment_is_ignored_by_classic_and_leaves_a_hole_in_later_versions) {
  Bench classic(Version::classic, 64 * mib);
  classic.offset_of(256);
  EXPECT_EQ(classic.offset_of(256, Space::default_memory, 4096), 256U);
  Bench aligned(Version::classic_align, 64 * mib);
  aligned.offset_of(256);
  EXPECT_EQ(aligned.offset_of(256, Space::default_memory, 4096), 4096U);
  EXPECT_EQ(aligned.offset_of(1000), 256U);
}

TEST(Bfc, regions_double_and_the_last_is_what_the_limit_leaves) {
  Options options = Bench::options_of(Version::classic, 11 * mib);
  options.allow_growth = true;
  Bench bench(options);
  EXPECT_EQ(bench.take(2 * mib).region, 0U);
  EXPECT_EQ(bench.take(4 * mib).region, 1U);
  EXPECT_EQ(bench.take(5 * mib).region, 2U);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 11 * mib);
  EXPECT_EQ(bench.take(1).outcome, Outcome::out_of_memory);
}

TEST(Bfc, after_a_refusal_nine_tenths_are_requested_until_the_driver_accepts) {
  VirtualOptions device;
  device.device_bytes = 9863732736;
  Bench bench(Bench::options_of(Version::classic, 12884901888), device);
  bench.take(262144);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 9393092608U);  // 9393093476 would come of doubles.
}

TEST(Bfc, regions_without_a_block_go_back_where_a_request_would_fail) {
  Options options = Bench::options_of(Version::classic, 8 * mib);
  options.allow_growth = true;
  for (const bool collects : {false, true}) {
    options.garbage_collection = collects;
    Bench bench(options);
    bench.offset_of(2 * mib);
    bench.take(4 * mib);
    bench.free(0);
    EXPECT_EQ(bench.take(3 * mib).outcome, collects ? Outcome::allocated : Outcome::out_of_memory);
  }
}

TEST(Bfc, a_granularity_above_the_limit_lets_the_pool_grow_without_end) {
  // As in XLA: the difference between limit and pool is unsigned there.
  VirtualOptions device;
  device.granularity = 2 * mib;
  Bench bench(Bench::options_of(Version::classic, 3 * mib), device);
  EXPECT_EQ(bench.take(mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 4 * mib);
  EXPECT_EQ(bench.take(5 * mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.bfc.statistics().pool_bytes, 10 * mib);
}

TEST(Bfc, two_ends_grow_towards_each_other) {
  Bench bench(Version::spatial_v1, 64 * mib);
  EXPECT_EQ(bench.offset_of(mib), 0U);
  EXPECT_EQ(bench.offset_of(mib, Space::collective), 63 * mib);
  EXPECT_EQ(bench.offset_of(mib, Space::collective), 62 * mib);
  EXPECT_EQ(bench.bfc.chunk(bench.bfc.gap()).bytes, 61 * mib);
  // A hole belongs to its end; the other one does not get it.
  bench.offset_of(mib);
  bench.free(0);
  EXPECT_EQ(bench.offset_of(mib, Space::collective), 61 * mib);
  EXPECT_EQ(bench.offset_of(mib), 0U);
}

TEST(Bfc, what_borders_on_the_gap_goes_back_into_it) {
  Bench bench(Version::spatial_v1, 64 * mib);
  for (int i = 0; i < 3; ++i) bench.offset_of(mib);
  bench.free(mib);
  EXPECT_EQ(bench.bfc.chunk(bench.bfc.gap()).bytes, 61 * mib);
  bench.free(2 * mib);  // Takes the hole before it along.
  EXPECT_EQ(bench.bfc.chunk(bench.bfc.gap()).bytes, 63 * mib);
}

TEST(Bfc, parts_of_the_gap_are_exact_in_v2_and_by_the_rule_in_v1) {
  Bench first(Version::spatial_v1, 64 * mib);
  EXPECT_EQ(first.take(40 * mib).bytes, 64 * mib);
  Bench second(Version::spatial_v2, 64 * mib);
  EXPECT_EQ(second.take(40 * mib).bytes, 40 * mib);
}

TEST(Bfc, v3_serves_default_memory_from_the_upper_end) {
  Bench bench(Version::spatial_v3, 64 * mib);
  EXPECT_EQ(bench.offset_of(mib), 63 * mib);
  EXPECT_EQ(bench.offset_of(mib, Space::collective), 0U);
}

TEST(Bfc, the_largest_free_chunk_counts_the_gap_and_for_one_space_only_its_own_holes) {
  Bench bench(Version::spatial_v1, 64 * mib);
  for (int i = 0; i < 2; ++i) bench.offset_of(20 * mib);
  bench.offset_of(22 * mib, Space::collective);
  EXPECT_EQ(bench.bfc.largest_free_bytes(), 2 * mib);
  bench.free(0);
  EXPECT_EQ(bench.bfc.largest_free_bytes(), 20 * mib);
  EXPECT_EQ(bench.bfc.largest_usable_bytes(Space::default_memory), 20 * mib);
  EXPECT_EQ(bench.bfc.largest_usable_bytes(Space::collective), 2 * mib);
}

TEST(Bfc, fragmentation_is_undefined_with_nothing_free) {
  Bench bench(Version::classic, 64 * mib);
  EXPECT_TRUE(std::isnan(fragmentation_of(bench.bfc.statistics())));
  bench.offset_of(mib);
  EXPECT_EQ(fragmentation_of(bench.bfc.statistics()), 0);
  bench.offset_of(mib);
  bench.free(0);
  EXPECT_DOUBLE_EQ(fragmentation_of(bench.bfc.statistics()), 1.0 / 63);
}

TEST(Bfc, a_free_of_an_unknown_address_changes_nothing) {
  Bench bench(Version::classic, 64 * mib);
  bench.offset_of(mib);
  EXPECT_EQ(bench.bfc.free(base + 256), FreeOutcome::unknown_address);
  EXPECT_EQ(bench.bfc.statistics().in_use_bytes, mib);
}

TEST(Bfc, a_hundred_thousand_holes_of_one_size_stay_in_order) {
  Bench bench(Version::classic, std::uint64_t{1} << 40);
  constexpr std::uint64_t holes = 100'000;
  for (std::uint64_t i = 0; i < 2 * holes; ++i) bench.take(256);
  for (std::uint64_t i = 0; i < holes; ++i) bench.free(i * 7919 % holes * 512);
  for (std::uint64_t i = 0; i < holes; ++i) ASSERT_EQ(bench.offset_of(256), i * 512);
}

}  // namespace
}  // namespace hbmscope::allocator::xla_gpu
