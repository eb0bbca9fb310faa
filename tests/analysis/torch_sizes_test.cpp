// The sizes of blocks from before the first entry of a snapshot's history, by the rules of PyTorch's allocator.
#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/read/torch/size_rules.h"
#include "analysis/read/torch/torch_history.h"
#include "analysis/read/torch/trace_from_torch.h"
#include "tests/analysis/torch_by_hand.h"

namespace hbmscope {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20, base = 0x10000000, requested = 40'960'000;

std::string alloc_of(std::int64_t address, std::int64_t size) {
  return entry({{"addr", integer(address)}, {"size", integer(size)}});
}
std::string free_of(std::int64_t address, std::int64_t size) {
  return entry({{"action", text("free_completed")}, {"addr", integer(address)}, {"size", integer(size)}});
}
std::string block_of(std::int64_t size, bool is_active, std::int64_t request = 0) {
  return block({{"size", integer(size)},
                {"requested_size", integer(request == 0 ? size : request)},
                {"state", text(is_active ? "active_allocated" : "inactive")}});
}
std::string large_segment(const std::vector<std::string>& blocks, std::int64_t size, const Fields& more = {}) {
  Fields fields = {{"address", integer(base)}, {"total_size", integer(size)}, {"segment_type", text("large")}};
  fields.insert(fields.end(), more.begin(), more.end());
  return segment(blocks, fields);
}

std::uint64_t peak_excess_of(const TorchHistory& history) {
  const auto main_pool = history.peak_excess_bytes_max.find({0, 0});
  return main_pool == history.peak_excess_bytes_max.end() ? 0 : main_pool->second;
}

TorchHistory history_of(const TorchSnapshot& snapshot) {
  std::vector<std::uint32_t> segments(snapshot.segments.size());
  for (std::uint32_t i = 0; i < segments.size(); ++i) segments[i] = i;
  return compute_torch_history(snapshot, snapshot.traces.front(), segments);
}

TEST(TorchSizes, follow_the_allocators_rules) {
  EXPECT_EQ(torch::rounded_request(0), 512U);
  EXPECT_EQ(torch::rounded_request(513), 1024U);
  EXPECT_TRUE(torch::would_split(1 << 20, 512, false)) << "a small request";
  EXPECT_FALSE(torch::would_split((1 << 20) + 512, 1 << 20, false));
  EXPECT_TRUE(torch::would_split((1 << 20) + 512, (1 << 20) + 512, false));
  EXPECT_TRUE(torch::would_split((1 << 20) + 512, 512, true)) << "an expandable segment";
  constexpr std::uint64_t large = 4 << 20;
  EXPECT_EQ(torch::excess_bytes_max(large, 0, false), 0U);
  EXPECT_EQ(torch::excess_bytes_max(large, 1 << 20, false), 1U << 20);
  EXPECT_EQ(torch::excess_bytes_max(large, (1 << 20) + 1024, false), 512U) << "more than 1 MiB has to stay free";
  EXPECT_EQ(torch::excess_bytes_max(large, 64 << 20, false), 1U << 20);
  EXPECT_EQ(torch::excess_bytes_max(large, 64 << 20, true), 0U);
  EXPECT_EQ(torch::excess_bytes_max(1 << 20, 64 << 20, false), 0U);
}

// The block of 40,960,000 bytes has 40 MiB, because the next block is allocated there and not right above the request.
TEST(TorchSizes, an_older_block_reaches_to_what_is_allocated_above_it) {
  const auto snapshot = read(snapshot_of(
      {large_segment({block_of(40 * mib, false), block_of(16 * mib, true), block_of(8 * mib, false)}, 64 * mib)},
      {alloc_of(base + 40 * mib, 16 * mib), free_of(base, requested)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const TorchHistory history = history_of(*snapshot);
  ASSERT_EQ(history.blocks.size(), 1U);
  EXPECT_EQ(history.blocks[0].size_bytes, static_cast<std::uint64_t>(40 * mib));
  EXPECT_EQ(history.blocks[0].excess_bytes_max, 0U);
  EXPECT_EQ(history.contradictions, 0U);
  const Trace trace = trace_from_torch(*snapshot);
  EXPECT_EQ(trace.streams.front().peak(1).in_use_bytes, static_cast<std::uint64_t>(56 * mib));
  EXPECT_FALSE(trace.streams.front().peak(1).is_inexact);
  EXPECT_EQ(trace.import.count_of("uncertain_sizes"), 0);
}

TEST(TorchSizes, an_older_block_ends_where_the_next_one_is_allocated_right_above_it) {
  const auto snapshot = read(snapshot_of(
      {large_segment({block_of(40 * mib, false), block_of(16 * mib, true), block_of(8 * mib, false)}, 64 * mib)},
      {alloc_of(base + 40 * mib, 16 * mib), free_of(base, 40 * mib)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(history_of(*snapshot).blocks[0].excess_bytes_max, 0U);
  EXPECT_FALSE(trace_from_torch(*snapshot).streams.front().peak(1).is_inexact);
}

TEST(TorchSizes, without_evidence_the_peak_is_inexact_and_the_end_is_not) {
  const auto snapshot =
      read(snapshot_of({large_segment({block_of(64 * mib, false)}, 64 * mib)}, {free_of(base, requested)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  const TorchHistory history = history_of(*snapshot);
  EXPECT_EQ(history.blocks[0].size_bytes, torch::rounded_request(requested));
  EXPECT_EQ(history.blocks[0].excess_bytes_max, static_cast<std::uint64_t>(mib));
  EXPECT_EQ(peak_excess_of(history), static_cast<std::uint64_t>(mib));
  const Trace trace = trace_from_torch(*snapshot);
  EXPECT_EQ(trace.import.count_of("uncertain_sizes"), 1);
  EXPECT_EQ(trace.import.worst(), Severity::warning);
  EXPECT_TRUE(trace.streams.front().peak(1).is_inexact);
  EXPECT_FALSE(trace.streams.front().last_state().is_inexact(1));
}

TEST(TorchSizes, a_peak_that_no_uncertain_block_can_change_is_exact) {
  const auto snapshot = read(snapshot_of({large_segment({block_of(64 * mib, true)}, 64 * mib)},
                                         {free_of(base, requested), alloc_of(base, 64 * mib)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(peak_excess_of(history_of(*snapshot)), 0U);
  const Trace trace = trace_from_torch(*snapshot);
  EXPECT_FALSE(trace.streams.front().peak(1).is_inexact);
  EXPECT_EQ(trace.import.count_of("uncertain_sizes"), 1);
  EXPECT_EQ(trace.import.worst(), Severity::notice);
}

TEST(TorchSizes, of_blocks_in_expandable_segments_are_certain) {
  const auto snapshot = read(snapshot_of(
      {large_segment({block_of(64 * mib, false)}, 64 * mib, {{"is_expandable", "\x88"}})}, {free_of(base, requested)}));
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(history_of(*snapshot).blocks[0].excess_bytes_max, 0U);
}

// One segment of PyTorch's pool of large blocks: best fit, at the low end.
class NaivePool {
 public:
  struct Block {
    std::int64_t size, request;  // request 0: free.
  };
  explicit NaivePool(std::int64_t size) { blocks_[base] = {size, 0}; }

  // The address; 0 if nothing fits.
  std::int64_t allocate(std::int64_t request) {
    const auto size = static_cast<std::int64_t>(torch::rounded_request(static_cast<std::uint64_t>(request)));
    auto best = blocks_.end();
    for (auto at = blocks_.begin(); at != blocks_.end(); ++at)
      if (at->second.request == 0 && at->second.size >= size &&
          (best == blocks_.end() || at->second.size < best->second.size))
        best = at;
    if (best == blocks_.end()) return 0;
    const std::int64_t remaining = best->second.size - size;
    best->second.request = request;
    if (remaining > mib) {
      best->second.size = size;
      blocks_[best->first + size] = {remaining, 0};
    }
    return best->first;
  }
  void free(std::int64_t address) {
    auto at = blocks_.find(address);
    at->second.request = 0;
    if (const auto next = std::next(at); next != blocks_.end() && next->second.request == 0) {
      at->second.size += next->second.size;
      blocks_.erase(next);
    }
    if (at != blocks_.begin() && std::prev(at)->second.request == 0) {
      std::prev(at)->second.size += at->second.size;
      blocks_.erase(at);
    }
  }
  std::int64_t in_use() const {
    std::int64_t sum = 0;
    for (const auto& [address, block] : blocks_) sum += block.request == 0 ? 0 : block.size;
    return sum;
  }
  const std::map<std::int64_t, Block>& blocks() const { return blocks_; }

 private:
  std::map<std::int64_t, Block> blocks_;
};

TEST(TorchSizes, of_random_histories_are_right_or_within_their_bounds) {
  std::size_t extended = 0, uncertain = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::int64_t end) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end));
    };
    NaivePool pool(512 * mib);
    std::vector<std::string> entries;
    std::map<std::int64_t, NaivePool::Block> at_begin;
    std::int64_t peak = 0;
    for (int step = 0; step < 400; ++step) {
      if (step == 200) {
        at_begin = pool.blocks();
        peak = pool.in_use();
        entries.clear();
      }
      std::vector<std::int64_t> live;
      for (const auto& [address, block] : pool.blocks())
        if (block.request > 0) live.push_back(address);
      if (!live.empty() && below(2) == 0) {
        const std::int64_t address = live[static_cast<std::size_t>(below(static_cast<std::int64_t>(live.size())))];
        entries.push_back(free_of(address, pool.blocks().at(address).request));
        pool.free(address);
      } else {
        const std::int64_t request = 2 * mib + below(40) * 700'000;
        if (const std::int64_t address = pool.allocate(request); address != 0)
          entries.push_back(alloc_of(address, request));
      }
      peak = std::max(peak, pool.in_use());
    }
    std::vector<std::string> blocks;
    for (const auto& [address, one] : pool.blocks()) blocks.push_back(block_of(one.size, one.request > 0, one.request));
    const auto snapshot = read(snapshot_of({large_segment(blocks, 512 * mib)}, entries));
    ASSERT_TRUE(snapshot) << snapshot.error().text();
    const TorchHistory history = history_of(*snapshot);
    EXPECT_EQ(history.contradictions, 0U) << seed;
    for (const TorchInitialBlock& one : history.blocks) {
      const auto real = static_cast<std::uint64_t>(at_begin.at(static_cast<std::int64_t>(one.address)).size);
      EXPECT_GE(real, one.size_bytes) << seed;
      EXPECT_LE(real, one.size_bytes + one.excess_bytes_max) << seed;
      uncertain += one.excess_bytes_max > 0 ? 1 : 0;
      extended += one.is_size_derived && one.excess_bytes_max == 0 &&
                          real > torch::rounded_request(bytes_or_0(one.requested_bytes))
                      ? 1
                      : 0;
    }
    const HeapPeak found = trace_from_torch(*snapshot).streams.front().peak(1);
    EXPECT_LE(found.in_use_bytes, static_cast<std::uint64_t>(peak)) << seed;
    EXPECT_LE(static_cast<std::uint64_t>(peak), found.in_use_bytes + peak_excess_of(history)) << seed;
    if (!found.is_inexact) {
      EXPECT_EQ(found.in_use_bytes, static_cast<std::uint64_t>(peak)) << seed;
    }
  }
  EXPECT_GT(extended, 100U);
  EXPECT_GT(uncertain, 10U);
}

}  // namespace
}  // namespace hbmscope
