// XLA's packing of buffers: the cases of its own unit tests, and random programs compared with a placer that follows
// the description literally, with lists and no tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "allocator/emulated/tpu/heap_packing.h"

namespace hbmscope::allocator::tpu {
namespace {

using Offsets = std::vector<std::uint64_t>;

void expect_packed(std::vector<PackedBuffer> buffers, std::uint64_t alignment, std::uint64_t size,
                   const Offsets& offsets) {
  const PackedHeap packed = pack_heap(buffers, PackingOrder::spatial, alignment);
  EXPECT_EQ(packed.size, size);
  EXPECT_EQ(packed.offsets, offsets);
}

std::vector<PackedBuffer> four_at_once() {
  BufferTimes times;
  const auto a = times.alloc(10), b = times.alloc(30), c = times.alloc(20), d = times.alloc(40);
  for (const auto each : {a, b, c, d}) times.free(each);
  return times.finish();
}

std::vector<PackedBuffer> four_of_two_times() {
  BufferTimes times;
  const auto a = times.alloc(10), b = times.alloc(20), c = times.alloc(50);
  times.free(a);
  const auto d = times.alloc(40);
  for (const auto each : {b, c, d}) times.free(each);
  return times.finish();
}

TEST(HeapPacking, decreasing_size) {
  expect_packed(four_at_once(), 1, 100, {90, 40, 70, 0});
}

TEST(HeapPacking, decreasing_size_with_alignment) {
  expect_packed(four_of_two_times(), 20, 120, {60, 100, 0, 60});
}

TEST(HeapPacking, best_fit) {
  BufferTimes times;
  const auto a = times.alloc(10), b = times.alloc(20), c = times.alloc(40);
  times.free(a);
  const auto d = times.alloc(30), e = times.alloc(50);
  for (const auto each : {b, c, d, e}) times.free(each);
  expect_packed(times.finish(), 1, 140, {90, 120, 50, 90, 0});
}

// a, then b, and c at the position of a; b may stay live together with c.
void expect_colocated(std::uint64_t a_size, std::uint64_t b_size, std::uint64_t c_size, bool b_lives_with_c,
                      std::uint64_t size, const Offsets& offsets) {
  BufferTimes times;
  const auto a = times.alloc(a_size);
  times.free(a);
  const auto b = times.alloc(b_size);
  if (!b_lives_with_c) times.free(b);
  const auto c = times.share_with(a, c_size);
  times.free(c);
  if (b_lives_with_c) times.free(b);
  expect_packed(times.finish(), 1, size, offsets);
}

TEST(HeapPacking, colocated) {
  expect_colocated(40, 20, 40, false, 40, {0, 0, 0});
}
TEST(HeapPacking, colocated_with_another) {
  expect_colocated(40, 20, 40, true, 60, {0, 40, 0});
}
TEST(HeapPacking, colocated_above_a_larger_one) {
  expect_colocated(10, 30, 10, true, 40, {30, 0, 30});
}
TEST(HeapPacking, colocated_with_a_smaller_one) {
  expect_colocated(40, 20, 30, true, 50, {0, 30, 0});
}
TEST(HeapPacking, colocated_with_a_larger_one) {
  expect_colocated(40, 20, 50, true, 70, {0, 50, 0});
}

TEST(HeapPacking, several_heaps) {
  const PackedHeaps packed = pack_heaps(four_at_once(), PackingOrder::spatial, 1, 50);
  EXPECT_EQ(packed.size, 100);
  EXPECT_EQ(packed.sizes, (Offsets{50, 50}));
  EXPECT_EQ(packed.heap_of, (std::vector<std::uint32_t>{0, 1, 1, 0}));
  EXPECT_EQ(packed.offsets, (Offsets{40, 0, 30, 0}));
}

TEST(HeapPacking, several_heaps_with_alignment) {
  const PackedHeaps packed = pack_heaps(four_of_two_times(), PackingOrder::spatial, 20, 70);
  EXPECT_EQ(packed.size, 130);
  EXPECT_EQ(packed.heap_of, (std::vector<std::uint32_t>{0, 1, 0, 1}));
  EXPECT_EQ(packed.offsets, (Offsets{60, 40, 0, 0}));
}

TEST(HeapPacking, buffers_of_nothing_take_no_time_and_no_place) {
  BufferTimes times;
  const auto a = times.alloc(0), b = times.alloc(10);
  times.free(a);
  const auto c = times.share_with(b, 0);
  times.free(c);
  times.free(b);
  const auto buffers = times.finish();
  EXPECT_EQ(buffers[b].begin, 0);
  EXPECT_EQ(buffers[b].end, 1);
  expect_packed(buffers, 1, 10, {0, 0, 0});
  EXPECT_EQ(pack_heap({}, 1).size, 0);
}

// The description, step by step.
struct Naive {
  const std::vector<PackedBuffer>& buffers;
  std::uint64_t alignment;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> placed;  // Buffer, offset.
  std::uint64_t size = 0;

  void close_over(std::uint32_t buffer, std::vector<std::uint32_t>& all) const {
    if (std::find(all.begin(), all.end(), buffer) != all.end()) return;
    all.push_back(buffer);
    for (const auto other : buffers[buffer].colocations) close_over(other, all);
  }

  std::uint64_t up(std::uint64_t value) const {
    while (value % alignment != 0) ++value;
    return value;
  }

  std::uint64_t find(std::uint32_t buffer) const {
    constexpr std::uint64_t infinity = 1'000'000'000;
    std::vector<std::uint32_t> all;
    close_over(buffer, all);
    std::uint64_t most = 0;
    for (const auto each : all) most = std::max(most, buffers[each].size);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> free = {{0, infinity}};
    for (const auto each : all) {
      for (const auto& [other, offset] : placed) {
        const PackedBuffer &mine = buffers[each], &theirs = buffers[other];
        if (theirs.begin > mine.end || theirs.end < mine.begin || theirs.size == 0) continue;
        const std::uint64_t end = offset + theirs.size;
        std::vector<std::pair<std::uint64_t, std::uint64_t>> left;
        for (const auto& [from, to] : free) {
          if (to <= offset || from >= end) {
            left.emplace_back(from, to);
            continue;
          }
          if (offset > from && offset - from >= buffers[buffer].size) left.emplace_back(from, offset);
          if (to > up(end) && to - up(end) >= most) left.emplace_back(up(end), to);
        }
        free = left;
      }
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> candidates;  // Length, offset.
    for (const auto& [from, to] : free)
      if (up(from) + most <= to) candidates.emplace_back(to - from, up(from));
    return std::min_element(candidates.begin(), candidates.end())->second;
  }

  void place(std::uint32_t buffer, Offsets& offsets) {
    const std::uint64_t offset = find(buffer);
    std::vector<std::uint32_t> all;
    close_over(buffer, all);
    for (const auto each : all) {
      placed.emplace_back(each, offset);
      offsets[each] = offset;
      size = std::max(size, offset + buffers[each].size);
    }
  }
};

PackedHeap naive_pack(const std::vector<PackedBuffer>& buffers, PackingOrder order, std::uint64_t alignment) {
  Naive naive{buffers, alignment, {}, 0};
  using Key = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;
  std::map<Key, std::uint32_t> turns;
  for (std::uint32_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i].needs_place || buffers[i].size == 0) continue;
    std::vector<std::uint32_t> all;
    naive.close_over(i, all);
    std::int64_t end = 0;
    for (const auto each : all) end = std::max(end, buffers[each].end);
    const auto size = static_cast<std::int64_t>(buffers[i].size);
    turns[order == PackingOrder::spatial ? Key{-size, buffers[i].begin - buffers[i].end, i}
                                         : Key{buffers[i].begin - end, -size, i}] = i;
  }
  PackedHeap packed;
  packed.offsets.resize(buffers.size());
  for (const auto& [key, buffer] : turns) naive.place(buffer, packed.offsets);
  packed.size = naive.size;
  return packed;
}

std::vector<PackedBuffer> random_program(std::mt19937_64& random, std::size_t steps) {
  BufferTimes times;
  std::vector<std::uint32_t> live, all;
  const std::uint64_t size_most = random() % 3 == 0 ? 4 : 200;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::uint64_t what = random() % 10;
    const std::uint64_t size = random() % size_most;
    if (what < 5 || all.empty()) {
      live.push_back(times.alloc(size));
    } else if (what < 7) {
      live.push_back(times.share_with(all[random() % all.size()], size));
    } else if (!live.empty()) {
      const std::size_t which = random() % live.size();
      times.free(live[which]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    } else {
      continue;
    }
    all.push_back(live.back());
  }
  if (random() % 4 != 0)
    for (const auto each : live) times.free(each);
  return times.finish();
}

TEST(HeapPacking, random_programs_are_packed_as_by_the_naive_placer) {
  std::mt19937_64 random(20261121);
  for (int trial = 0; trial < 10'000; ++trial) {
    // Includes long programs in which few buffers are live at a time.
    const auto buffers = random_program(random, trial % 500 == 0 ? 1'000 : 1 + random() % 60);
    const std::uint64_t alignment = random() % 2 == 0 ? 1 : 1 + random() % 20;
    for (const PackingOrder order : {PackingOrder::spatial, PackingOrder::temporal}) {
      const PackedHeap packed = pack_heap(buffers, order, alignment), naive = naive_pack(buffers, order, alignment);
      ASSERT_EQ(packed.size, naive.size) << "program " << trial;
      ASSERT_EQ(packed.offsets, naive.offsets) << "program " << trial;
    }
    const PackedHeaps several = pack_heaps(buffers, PackingOrder::spatial, alignment, ~std::uint64_t{0});
    ASSERT_EQ(several.size, pack_heap(buffers, PackingOrder::spatial, alignment).size);
  }
}

TEST(HeapPacking, ends_when_there_was_as_much_work_as_there_may_be) {
  std::mt19937_64 random(7);
  const auto buffers = random_program(random, 5'000);
  Work all;
  pack_heap(buffers, 1, &all);
  EXPECT_FALSE(all.is_over());
  Work some(all.steps() / 10);
  pack_heap(buffers, 1, &some);
  EXPECT_TRUE(some.is_over());
  EXPECT_FALSE(some.is_cancelled());
  std::atomic<bool> cancelled = true;
  Work nobodys(Work::no_limit, &cancelled);
  pack_heap(buffers, 1, &nobodys);
  EXPECT_TRUE(nobodys.is_cancelled());
  EXPECT_LT(nobodys.steps(), all.steps() / 100);
}

}  // namespace
}  // namespace hbmscope::allocator::tpu
