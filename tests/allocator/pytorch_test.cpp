// The rules of PyTorch's allocator one by one, as c10/cuda/CUDACachingAllocator.cpp has them.
#include "allocator/reference/pytorch/caching_allocator.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "allocator/reference/interface/virtual_addresses.h"
#include "tests/sizes.h"

namespace hbmscope::allocator::pytorch {
namespace {

struct Bench {
  explicit Bench(std::string_view conf = "", std::uint64_t device_bytes = 1024 * mib, double fraction = 1)
      : upstream({device_bytes, 1, Placement::ascending}),
        allocator(upstream, options_of(conf, device_bytes, fraction)) {}

  static Options options_of(std::string_view conf, std::uint64_t device_bytes, double fraction) {
    auto options = options_from_conf(conf, fraction);
    EXPECT_TRUE(options) << options.error();
    options->device_bytes = device_bytes;
    return *options;
  }
  Allocation take(std::uint64_t bytes, std::uint32_t stream = 0) {
    return allocator.allocate({bytes, Space::default_memory, stream, 1});
  }
  void free(const Allocation& block) { EXPECT_EQ(allocator.free(block.address), FreeOutcome::freed); }
  std::uint64_t pool_bytes() const { return allocator.statistics().pool_bytes; }

  VirtualAddresses upstream;
  CachingAllocator allocator;
};

// Streams whose work is done when it says so.
struct SlowStreams final : StreamProgress {
  Event record(std::uint32_t) override { return ++recorded; }
  bool is_done(Event event) override { return event <= done; }
  void wait(Event event) override { done = std::max(done, event); }
  void wait_for_stream(std::uint32_t) override { done = recorded; }

  Event recorded = 0, done = 0;
};

TEST(PytorchAllocator, segments_are_2_mib_20_mib_or_as_requested) {
  Bench bench;
  bench.take(mib);
  EXPECT_EQ(bench.pool_bytes(), 2 * mib);
  bench.take(mib + 1);
  EXPECT_EQ(bench.pool_bytes(), 22 * mib);
  bench.take(10 * mib - 1);  // The rest of the 20 MiB has room.
  EXPECT_EQ(bench.pool_bytes(), 22 * mib);
  bench.take(11 * mib + 1);
  EXPECT_EQ(bench.pool_bytes(), 34 * mib);
}

TEST(PytorchAllocator, small_blocks_are_split_always_large_ones_only_above_a_rest_of_1_mib) {
  Bench bench;
  EXPECT_EQ(bench.take(1).bytes, 512U);
  EXPECT_EQ(bench.take(2 * mib).bytes, 2 * mib);
  EXPECT_EQ(bench.take(17 * mib).bytes, 18 * mib);  // Out of 18: a remainder of 1 MiB stays with it.
}

TEST(PytorchAllocator, streams_have_pools_of_their_own) {
  Bench bench;
  const Allocation first = bench.take(4 * mib, 0);
  bench.free(first);
  EXPECT_NE(bench.take(4 * mib, 1).address, first.address);
  EXPECT_EQ(bench.take(4 * mib, 0).address, first.address);
}

TEST(PytorchAllocator, the_cache_goes_back_when_the_driver_refuses) {
  Bench bench("", 100 * mib);
  const Allocation whole = bench.take(60 * mib);
  const Allocation kept = bench.take(mib);
  bench.free(whole);
  EXPECT_EQ(bench.pool_bytes(), 62 * mib);  // Cached.
  EXPECT_EQ(bench.take(80 * mib).outcome, Outcome::allocated);
  EXPECT_EQ(bench.pool_bytes(), 82 * mib);
  EXPECT_EQ(bench.take(20 * mib).outcome, Outcome::out_of_memory);
  bench.free(kept);
  EXPECT_EQ(bench.take(20 * mib).outcome, Outcome::allocated);  // The small segment went.
}

TEST(PytorchAllocator, a_segment_with_one_block_in_it_stays) {
  Bench bench;
  const Allocation first = bench.take(4 * mib);
  bench.take(4 * mib);
  bench.free(first);
  bench.allocator.release_cached();
  EXPECT_EQ(bench.pool_bytes(), 20 * mib);
}

TEST(PytorchAllocator, expandable_segments_grow_at_their_end_and_shrink_by_whole_pages) {
  Bench bench("expandable_segments:True");
  const Allocation first = bench.take(30 * mib);
  EXPECT_EQ(bench.pool_bytes(), 40 * mib);
  const Allocation second = bench.take(30 * mib);
  EXPECT_EQ(second.address, first.address + 30 * mib);  // The 10 MiB that were left, and a piece more.
  EXPECT_EQ(bench.pool_bytes(), 60 * mib);
  bench.free(first);
  bench.allocator.release_cached();
  EXPECT_EQ(bench.pool_bytes(), 40 * mib);  // The mapped part that both are in stays.
  EXPECT_EQ(bench.take(25 * mib).address, first.address);
  bench.free(second);
  EXPECT_EQ(bench.allocator.claims().size(), 1U);
}

TEST(PytorchAllocator, a_block_above_the_split_size_is_not_split_and_not_given_to_small_requests) {
  Bench bench("max_split_size_mb:32", 200 * mib);
  const Allocation large = bench.take(100 * mib);
  bench.free(large);
  EXPECT_NE(bench.take(20 * mib).address, large.address);  // Less than 32 MiB: not out of a block of 100.
  EXPECT_EQ(bench.take(90 * mib).bytes, 100 * mib);        // Less than 20 MiB too large: whole.
}

TEST(PytorchAllocator, sizes_are_rounded_to_steps_between_powers_of_two_if_configured) {
  Bench bench("roundup_power2_divisions:4");
  EXPECT_EQ(bench.allocator.rounded_bytes(1200 * 1024), 1280U * 1024);
  EXPECT_EQ(bench.allocator.rounded_bytes(1024 * 1024), 1024U * 1024);
  EXPECT_EQ(bench.allocator.rounded_bytes(1000), 1024U);  // Up to 512 B a division: by 512 B.
}

TEST(PytorchAllocator, a_list_rounds_each_range_of_sizes_in_its_own_way) {
  Bench bench("roundup_power2_divisions:[2:1,8:2,16:4,>:8],max_split_size_mb:200");
  EXPECT_EQ(bench.allocator.rounded_bytes(3 * mib - 1), 3 * mib);           // From 2 MiB: to 512 B, as below.
  EXPECT_EQ(bench.allocator.rounded_bytes(5 * mib - 1000), 5 * mib - 512);  // From 4 MiB: not in the list.
  EXPECT_EQ(bench.allocator.rounded_bytes(9 * mib), 12 * mib);
  EXPECT_EQ(bench.allocator.rounded_bytes(17 * mib), 18 * mib);  // ">" replaces the entry before it.
  EXPECT_EQ(bench.allocator.rounded_bytes(33 * mib), 36 * mib);
}

TEST(PytorchAllocator, a_block_of_another_stream_stays_away_until_that_stream_is_done) {
  Bench bench;
  SlowStreams streams;
  bench.allocator.set_progress(&streams);
  const Allocation block = bench.take(4 * mib);
  EXPECT_TRUE(bench.allocator.record_stream(block.address, 1));
  EXPECT_FALSE(bench.allocator.record_stream(block.address + 512, 1));
  bench.free(block);
  EXPECT_EQ(bench.allocator.statistics().in_use_bytes, 0U);
  EXPECT_EQ(bench.allocator.torch_statistics().active_bytes, 4 * mib);
  EXPECT_NE(bench.take(4 * mib).address, block.address);
  streams.done = streams.recorded;
  EXPECT_EQ(bench.take(4 * mib).address, block.address);
}

TEST(PytorchAllocator, a_stream_waits_before_the_cache_is_released) {
  Bench bench;
  SlowStreams streams;
  bench.allocator.set_progress(&streams);
  const Allocation block = bench.take(30 * mib);
  bench.allocator.record_stream(block.address, 1);
  bench.free(block);
  bench.allocator.release_cached();
  EXPECT_EQ(streams.done, 1U);
  EXPECT_EQ(bench.pool_bytes(), 0U);
}

TEST(PytorchAllocator, a_private_pool_has_its_own_segments_until_nobody_uses_it) {
  Bench bench;
  constexpr PoolId pool = {0, 1};
  bench.free(bench.take(4 * mib));
  EXPECT_TRUE(bench.allocator.create_pool(pool));
  EXPECT_TRUE(bench.allocator.begin_pool(pool));
  EXPECT_FALSE(bench.allocator.begin_pool(pool));
  const Allocation block = bench.take(4 * mib);
  EXPECT_EQ(bench.pool_bytes(), 40 * mib);
  EXPECT_TRUE(bench.allocator.end_pool(pool));
  EXPECT_FALSE(bench.allocator.end_pool(pool));
  EXPECT_TRUE(bench.allocator.release_pool(pool));
  bench.free(block);
  bench.allocator.release_cached();
  EXPECT_EQ(bench.pool_bytes(), 20 * mib);  // The creator still uses it.
  EXPECT_TRUE(bench.allocator.release_pool(pool));
  EXPECT_FALSE(bench.allocator.release_pool(pool));
  bench.allocator.release_cached(pool);
  EXPECT_EQ(bench.pool_bytes(), 0U);
}

TEST(PytorchAllocator, while_a_pool_records_the_cache_stays_and_frees_on_other_streams_wait) {
  Bench bench("", 100 * mib);
  SlowStreams streams;
  bench.allocator.set_progress(&streams);
  const Allocation before = bench.take(2 * mib), during = bench.take(2 * mib);
  bench.free(bench.take(60 * mib));
  bench.allocator.record_stream(before.address, 1);
  bench.allocator.begin_pool({1, 0});
  bench.allocator.record_stream(during.address, 1);
  bench.free(before);
  bench.free(during);
  EXPECT_EQ(bench.take(80 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(bench.pool_bytes(), 80 * mib);
  EXPECT_EQ(streams.recorded, 0U);
  bench.allocator.end_pool({1, 0});
  EXPECT_EQ(bench.take(2 * mib).address, during.address);  // The graph itself keeps the order of this stream.
  EXPECT_EQ(streams.recorded, 1U);
  EXPECT_EQ(bench.take(70 * mib).outcome, Outcome::allocated);
}

TEST(PytorchAllocator, a_fraction_limits_segments_like_the_driver) {
  Bench bench("", 100 * mib, 0.5);
  const Allocation block = bench.take(40 * mib);
  EXPECT_EQ(bench.take(11 * mib).outcome, Outcome::out_of_memory);
  EXPECT_EQ(bench.allocator.torch_statistics().retries, 1U);
  EXPECT_EQ(bench.allocator.torch_statistics().out_of_memories, 1U);
  bench.free(block);
  EXPECT_EQ(bench.take(50 * mib).outcome, Outcome::allocated);
}

TEST(PytorchAllocator, above_the_threshold_old_segments_are_released_first) {
  Bench bench("garbage_collection_threshold:0.5", 200 * mib, 0.9);
  const Allocation old_block = bench.take(40 * mib), new_block = bench.take(42 * mib);
  bench.free(old_block);
  bench.take(30 * mib, 1);
  bench.free(new_block);
  bench.take(32 * mib, 1);                   // 112 MiB are above 90.
  EXPECT_EQ(bench.pool_bytes(), 104 * mib);  // Of the cached ones, 40 went and 42 stayed.
}

TEST(PytorchAllocator, settings_that_pytorch_refuses_or_that_do_nothing_are_refused) {
  for (const char* conf : {"expandable_segments:true", "max_split_size_mb:20", "roundup_power2_divisions:3",
                           "garbage_collection_threshold:0.8", "backend:cudaMallocAsync", "max_split_size_mb"})
    EXPECT_FALSE(options_from_conf(conf)) << conf;
  for (const char* conf : {"garbage_collection_threshold:1", "roundup_power2_divisions:[3:2]",
                           "roundup_power2_divisions:[2:3]", "roundup_power2_divisions:[2]"})
    EXPECT_FALSE(options_from_conf(conf, 0.5)) << conf;
  EXPECT_EQ(options_from_conf("max_split_size_mb:128,expandable_segments:True")->max_split_bytes, 128 * mib);
}

TEST(PytorchAllocator, settings_are_written_as_they_are_read) {
  EXPECT_EQ(conf_from_options({}), "");
  for (const char* conf : {"expandable_segments:True", "max_split_size_mb:128,max_non_split_rounding_mb:40",
                           "roundup_power2_divisions:4", "expandable_segments:True,garbage_collection_threshold:0.6"})
    EXPECT_EQ(conf_from_options(*options_from_conf(conf, 0.5)), conf);
  const Options list = *options_from_conf("roundup_power2_divisions:[256:1,512:2,1024:4,>:8]");
  EXPECT_EQ(options_from_conf(conf_from_options(list))->roundup_power2_divisions, list.roundup_power2_divisions);
}

}  // namespace
}  // namespace hbmscope::allocator::pytorch
