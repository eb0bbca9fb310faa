#include "analysis/query/failure_facts.h"

#include <algorithm>
#include <random>

#include <nlohmann/json.hpp>

#include "allocator/reference/interface/virtual_addresses.h"
#include "allocator/reference/xla_gpu/bfc.h"
#include "analysis/diagnose/diagnosis.h"
#include "analysis/query/free_blocks.h"
#include "analysis/write/json_trace.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t failing_heap_flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;

void run_out(TraceBuilder& builder, std::uint32_t heap, std::uint64_t requested,
             std::uint64_t driver_had = wire::unknown_bytes) {
  wire::OutOfMemoryRecord record;
  record.requested = requested;
  record.available = driver_had;
  record.heap = heap;
  builder.writer.add(record, builder.time_ns += 1000);
}

// 100 MiB of pool with a block of 10 MiB at every 20 MiB: five free pieces of 10 MiB.
struct Comb {
  TraceBuilder builder;
  std::uint32_t heap = builder.heap("GPU 0", failing_heap_flags);
  Comb() {
    builder.grow(heap, 0, 100 * mib);
    for (std::uint64_t i = 0; i < 5; ++i)
      builder.alloc(heap, i * 20 * mib, 10 * mib, builder.stack("main;f" + std::to_string(i)));
  }
  FailureFacts facts() {
    builder.writer.flush();
    return compute_failure_facts(builder.trace.streams[0], 0);
  }
  CauseOfFailure cause() {
    builder.writer.flush();
    return diagnose(builder.trace, {0, 0}, Depth::brief).cause;
  }
};

TEST(FailureFacts, enough_in_small_blocks_is_fragmented) {
  Comb comb;
  run_out(comb.builder, comb.heap, 15 * mib);
  const FailureFacts facts = comb.facts();
  EXPECT_EQ(Cause::fragmentation, comb.cause().cause);
  EXPECT_EQ(50 * mib, facts.free_bytes);
  EXPECT_EQ(5U, facts.free_blocks);
  EXPECT_EQ(10 * mib, facts.largest_free_bytes);
  EXPECT_EQ(
      "Fragmented: requested 15.0 MiB; 50.0 MiB is free in total (5 blocks), but the largest free block is 10.0 MiB.",
      comb.cause().sentence);
  // One block of 10 MiB is between two free blocks.
  ASSERT_TRUE(facts.place);
  EXPECT_EQ(10 * mib, facts.place->in_use_bytes);
  ASSERT_EQ(1U, facts.place->blocks.size());
  // The third block cut the last piece of 60 MiB into 10 and 50, the fourth 50 to 30, the fifth 30 to 10.
  EXPECT_EQ(5U, facts.last_fit);
}

TEST(FailureFacts, sentence_follows_the_figures) {
  struct Case {
    std::uint64_t requested, driver;
    const char* sentence;
  };
  for (const Case& one :
       {Case{200 * mib, wire::unknown_bytes, "Not enough memory: requested 200 MiB, and even all free memory together"},
        Case{200 * mib, 10 * mib, "Not enough memory: requested 200 MiB, and even all free memory together (60.0 MiB)"},
        Case{60 * mib, 20 * mib, "Free memory is split between the pool and the device: requested 60.0 MiB"},
        Case{60 * mib, 70 * mib, "A limit of the process or the allocator was reached: requested 60.0 MiB"},
        Case{50 * mib, 0, "Fragmented: requested 50.0 MiB; 50.0 MiB is free in total"},
        Case{10 * mib, 0, "Requested 10.0 MiB, and the largest free block is 10.0 MiB, but the allocator did not"}}) {
    Comb comb;
    run_out(comb.builder, comb.heap, one.requested, one.driver);
    EXPECT_TRUE(comb.cause().sentence.starts_with(one.sentence)) << comb.cause().sentence;
  }
}

TEST(FailureFacts, heap_without_regions_is_unknown_and_says_why) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", 0);
  builder.alloc(heap, 0, 10);
  run_out(builder, heap, 15);
  builder.writer.flush();
  const FailureFacts facts = compute_failure_facts(builder.trace.streams[0], 0);
  EXPECT_FALSE(facts.is_free_known());
  EXPECT_FALSE(facts.free_bytes);
  EXPECT_FALSE(facts.place);
  const CauseOfFailure cause = diagnose(builder.trace, {0, 0}, Depth::brief).cause;
  EXPECT_EQ(Cause::unknown, cause.cause);
  EXPECT_NE(std::string::npos, cause.unknowns.find("because its regions are not reported"));
}

// After a loss, the other events are no basis for a verdict about the heap.
TEST(FailureFacts, after_a_loss_nothing_is_concluded) {
  Comb comb;
  comb.builder.writer.note_loss(3, 0, comb.builder.time_ns);
  run_out(comb.builder, comb.heap, 10 * mib);
  const FailureFacts facts = comb.facts();
  EXPECT_TRUE(facts.is_inexact);
  EXPECT_EQ(Cause::unknown, comb.cause().cause);
  EXPECT_FALSE(facts.place || facts.last_fit);
  EXPECT_EQ(
      "Requested 10.0 MiB; how much was free is unknown, because events of this heap were lost or contradict each "
      "other.",
      comb.cause().sentence);
  EXPECT_NE(std::string::npos, comb.cause().unknowns.find("the largest free block 10.0 MiB; neither is exact"));
  const FailureRow row = compute_failure_rows(comb.builder.trace).front();
  EXPECT_TRUE(row.is_inexact);
  const auto unknowns = json_from_failure_rows({row})[0]["unknowns"];
  for (const char* key : {"used_bytes", "total_free_bytes", "largest_free_bytes"})
    EXPECT_EQ(1, std::count(unknowns.begin(), unknowns.end(), key)) << key;
}

TEST(FailureFacts, request_larger_than_every_region_has_no_place) {
  Comb comb;
  run_out(comb.builder, comb.heap, 101 * mib);
  EXPECT_FALSE(comb.facts().place);
  EXPECT_FALSE(comb.facts().last_fit);
}

// Compared with one state for every event, and with every window of addresses.
struct Naive {
  static std::optional<std::uint64_t> last_fit(const Stream& stream, std::uint64_t bytes, std::uint64_t before) {
    std::optional<std::uint64_t> found;
    StreamState state;
    for (std::uint64_t position = 0; position < before; ++position) {
      stream.advance(state, position);
      if (state.heap(1).space.largest_free().value_or(0) >= bytes) found = position;
    }
    return found;
  }
  // Bytes in use and blocks, in the order of their weight.
  static std::optional<std::pair<std::uint64_t, std::uint64_t>> cheapest(const StreamState& state, std::uint64_t bytes,
                                                                         Fewest fewest = Fewest::bytes) {
    std::vector<HeapChunk> chunks;
    state.heap(1).space.for_each_chunk([&](const HeapChunk& chunk) { chunks.push_back(chunk); });
    std::vector<AddressRange> regions;
    state.heap(1).space.for_each_region([&](AddressRange range) { regions.push_back(range); });
    std::optional<std::pair<std::uint64_t, std::uint64_t>> best;
    for (std::size_t i = 0; i < chunks.size(); ++i)
      for (std::size_t j = i; j < chunks.size(); ++j) {
        const AddressRange window{chunks[i].range.begin, chunks[j].range.end};
        bool is_in_one = false;
        for (const AddressRange& region : regions) is_in_one |= region.contains(window);
        if (!is_in_one || window.size() < bytes) continue;
        std::uint64_t in_use = 0, blocks = 0;
        for (std::size_t k = i; k <= j; ++k) {
          if (chunks[k].state != ChunkState::block) continue;
          in_use += chunks[k].range.size();
          ++blocks;
        }
        const auto cost = fewest == Fewest::bytes ? std::pair(in_use, blocks) : std::pair(blocks, in_use);
        best = std::min(best.value_or(cost), cost);
      }
    return best;
  }
};

TEST(FailureFacts, are_the_same_as_the_naive_ones_on_random_heaps) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    const std::uint32_t heap = builder.heap("GPU 0", failing_heap_flags);
    // Two that touch and never join, one further on.
    for (const std::uint64_t begin : {0, 1000, 5000}) builder.grow(heap, begin, 1000);
    std::vector<std::pair<std::uint64_t, bool>> places;
    for (const std::uint64_t region : {0, 1000, 5000})
      for (std::uint64_t at = 0; at < 1000; at += 50) places.emplace_back(region + at, false);
    for (int i = 0; i < 400; ++i) {
      auto& [address, is_taken] = places[random() % places.size()];
      if (is_taken)
        builder.free(heap, address);
      else
        builder.alloc(heap, address, 1 + random() % 50);
      is_taken = !is_taken;
    }
    const std::uint64_t requested = 60 + random() % 400;
    run_out(builder, heap, requested);
    builder.writer.flush();
    const Stream& stream = builder.trace.streams[0];
    const std::uint64_t event = stream.failures()[0].event;
    const StreamState state = stream.state_at(event);
    EXPECT_EQ(Naive::last_fit(stream, requested, event), find_last_fit(stream, heap, requested, event))
        << "seed " << seed;
    const auto place = find_cheapest_place(state, heap, requested);
    const auto naive = Naive::cheapest(state, requested);
    ASSERT_EQ(naive.has_value(), place.has_value()) << "seed " << seed;
    if (!place) continue;
    EXPECT_EQ(naive->first, place->in_use_bytes) << "seed " << seed;
    EXPECT_GE(place->range.size(), requested);
    std::uint64_t in_use = 0;
    for (const LiveBlock& block : place->blocks) in_use += block.size;
    EXPECT_EQ(place->in_use_bytes, in_use) << "the blocks are those in the place";
  }
}

TEST(FailureFacts, the_blocks_in_the_way_are_those_of_a_complete_search) {
  std::size_t with_place = 0, with_other = 0;
  for (std::uint32_t seed = 1; seed <= 10'000; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    const std::uint32_t heap = builder.heap("GPU 0", failing_heap_flags);
    for (const std::uint64_t begin : {0, 400, 2000}) builder.grow(heap, begin, 400);
    for (const std::uint64_t region : {0, 400, 2000})
      for (std::uint64_t at = 0; at < 400;) {
        const std::uint64_t size = std::min<std::uint64_t>(1 + random() % 90, 400 - at);
        if (random() % 2 == 0) builder.alloc(heap, region + at, size);
        at += size;
      }
    builder.writer.flush();
    const StreamState state = builder.trace.streams[0].state_at(builder.trace.streams[0].end_position());
    const std::uint64_t requested = 40 + random() % 380;
    const auto cheapest = find_cheapest_place(state, heap, requested);
    const auto fewest = find_cheapest_place(state, heap, requested, Fewest::blocks);
    const auto naive_cheapest = Naive::cheapest(state, requested);
    const auto naive_fewest = Naive::cheapest(state, requested, Fewest::blocks);
    ASSERT_EQ(cheapest.has_value(), naive_cheapest.has_value()) << seed;
    ASSERT_EQ(fewest.has_value(), naive_fewest.has_value()) << seed;
    if (!cheapest) continue;
    ++with_place;
    with_other += fewest->blocks.size() < cheapest->blocks.size() ? 1 : 0;
    ASSERT_EQ(cheapest->in_use_bytes, naive_cheapest->first) << seed;
    ASSERT_EQ(cheapest->blocks.size(), naive_cheapest->second) << seed;
    ASSERT_EQ(fewest->blocks.size(), naive_fewest->first) << seed;
    ASSERT_EQ(fewest->in_use_bytes, naive_fewest->second) << seed;
  }
  EXPECT_GT(with_place, 9'000U);
  EXPECT_GT(with_other, 1'000U);
}

// A hole of the other end doesn't serve the request; without the blocks in the way, the allocator does.
TEST(FailureFacts, in_a_pool_with_two_ends_the_blocks_in_the_way_are_those_of_the_right_end) {
  namespace xla_gpu = allocator::xla_gpu;
  std::size_t with_place = 0;
  for (const auto version : {xla_gpu::Version::spatial_v1, xla_gpu::Version::spatial_v3})
    for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
      std::mt19937 random(seed);
      allocator::VirtualAddresses upstream({64 * mib, 1, allocator::Placement::ascending});
      xla_gpu::Options options;
      options.version = version;
      options.limit_bytes = 64 * mib;
      xla_gpu::Bfc pool(upstream, options);
      TraceBuilder builder;
      const std::uint32_t heap = builder.heap(
          "GPU_0_bfc", wire::heap_flag::has_addresses | wire::heap_flag::has_regions | wire::heap_flag::has_two_ends);
      std::vector<std::uint64_t> live;
      for (int i = 0; i < 400; ++i) {
        if (!live.empty() && random() % 100 < 45) {
          const std::size_t at = random() % live.size();
          pool.free(live[at]);
          builder.free(heap, live[at]);
          live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
          continue;
        }
        allocator::Request request;
        request.bytes = 256 * (1 + random() % (16 * mib / 256));
        request.space = random() % 2 == 0 ? allocator::Space::default_memory : allocator::Space::collective;
        const allocator::Allocation answer = pool.allocate(request);
        if (i == 0) builder.grow(heap, pool.claims().front().base, pool.claims().front().bytes);
        if (answer.outcome == allocator::Outcome::allocated) {
          builder.alloc(heap, answer.address, answer.bytes, 0,
                        answer.is_at_upper_end ? wire::block_flag::upper_end : 0);
          live.push_back(answer.address);
          continue;
        }
        builder.run_out(heap, request.bytes);
        builder.writer.flush();
        const FailureFacts facts = compute_failure_facts(builder.trace.streams[0], 0);
        if (!facts.has_room() || !facts.place) break;
        ++with_place;
        for (const LiveBlock& block : facts.place->blocks) pool.free(block.address);
        ASSERT_EQ(pool.allocate(request).outcome, allocator::Outcome::allocated) << seed;
        break;
      }
    }
  EXPECT_GT(with_place, 100U);
}

TEST(FreeBlocks, are_cut_largest_first_and_say_it_in_one_sentence) {
  Comb comb;
  comb.builder.free(comb.heap, 20 * mib);
  const auto states = comb.builder.states_at();
  const auto free = find_free_blocks(states[0].heap(comb.heap).space, 3);
  ASSERT_TRUE(free);
  EXPECT_EQ(4U, free->count);
  EXPECT_EQ(60 * mib, free->bytes);
  ASSERT_EQ(3U, free->largest.size());
  EXPECT_EQ((AddressRange{10 * mib, 40 * mib}), free->largest[0]);
  EXPECT_EQ((AddressRange{50 * mib, 60 * mib}), free->largest[1]) << "of equal ones the lower";
  EXPECT_EQ(30 * mib, free->fragmented_bytes());
  EXPECT_EQ("60.0 MiB is free, in 4 blocks. The largest is 30.0 MiB; the request was 40.0 MiB.",
            sentence_of(*free, 40 * mib));
  EXPECT_EQ("60.0 MiB is free, in 4 blocks. The largest is 30.0 MiB.", sentence_of(*free, std::nullopt));
  EXPECT_EQ("Nothing is free.", sentence_of(FreeBlocks{}, std::nullopt));
}

TEST(FreeBlocks, of_unknown_regions_are_unknown) {
  TraceBuilder builder;
  const std::uint32_t heap = builder.heap("GPU 0", 0);
  builder.alloc(heap, 0, 10);
  EXPECT_FALSE(find_free_blocks(builder.states_at()[0].heap(heap).space, 10));
}

TEST(FreeHistory, knows_the_largest_request_so_far_and_what_fragmented_most) {
  Comb comb;                                     // Events 0 to 5.
  run_out(comb.builder, comb.heap, 40 * mib);    // 6
  comb.builder.free(comb.heap, 20 * mib);        // 7
  comb.builder.alloc(comb.heap, 10 * mib, mib);  // 8
  comb.builder.writer.flush();
  const auto history = compute_free_history(comb.builder.trace.streams[0], comb.heap, 2);
  ASSERT_TRUE(history);
  EXPECT_EQ(nullptr, history->largest_request_at(1));
  EXPECT_EQ(10 * mib, history->largest_request_at(2)->bytes);
  EXPECT_FALSE(history->largest_request_at(6)->has_failed);
  EXPECT_EQ(40 * mib, history->largest_request_at(7)->bytes);
  EXPECT_TRUE(history->largest_request_at(7)->has_failed);
  // Each block except the first puts 10 MiB behind it; the free joins 10 + 10 + 10, so that 30 of 60 are fragmented,
  // not 40.
  ASSERT_EQ(2U, history->steps.size());
  EXPECT_EQ(10 * mib, history->steps[0].change());
  EXPECT_LT(history->steps[0].position, history->steps[1].position);
}

TEST(FreeHistory, a_new_listing_is_no_step) {
  Comb comb;
  const auto steps = [&] {
    comb.builder.writer.flush();
    return compute_free_history(comb.builder.trace.streams[0], comb.heap, 10)->steps.size();
  };
  const std::size_t before = steps();
  wire::RegionLiveRecord region;
  region.size = 100 * mib;
  comb.builder.writer.list_heap(comb.heap, {&region, 1}, {}, comb.builder.time_ns);  // Nothing is live any more.
  EXPECT_EQ(before, steps());
  comb.builder.alloc(comb.heap, 20 * mib, 10 * mib);  // 20 MiB before it, 70 after it.
  EXPECT_EQ(before + 1, steps());
}

}  // namespace
}  // namespace hbmscope
