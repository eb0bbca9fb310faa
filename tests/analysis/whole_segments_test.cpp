#include "analysis/diagnose/whole_segments.h"

#include <gtest/gtest.h>

#include <random>

#include "analysis/diagnose/diagnosis.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

struct Row {
  std::uint64_t size, in_use;
};

// A heap with these segments; in each, one block at its beginning.
class Heap {
 public:
  explicit Heap(const std::vector<Row>& rows) {
    const std::uint32_t heap =
        builder_.pool("GPU 0 PyTorch pool", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
    std::uint64_t address = 1024 * gib;
    for (const Row& row : rows) {
      builder_.grow(heap, address, row.size);
      if (row.in_use > 0) builder_.alloc(heap, address, row.in_use);
      address += row.size + 2 * mib;
    }
    states_ = builder_.states_at();
  }
  std::optional<WholeSegments> find(std::uint64_t wanted) const {
    return find_whole_segments(states_.front().heap(1), wanted);
  }

 private:
  TraceBuilder builder_;
  std::vector<StreamState> states_;
};

TEST(WholeSegments, those_with_the_least_in_use_are_enough) {
  const Heap heap({{512 * mib, 20 * mib}, {600 * mib, 600 * mib}, {64 * mib, 2 * mib}, {20 * mib, 20 * mib}});
  const auto found = heap.find(500 * mib);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes, 512 * mib);
  EXPECT_EQ(found->in_use_bytes, 20 * mib);
  EXPECT_EQ(found->blocks, 1U);
  EXPECT_TRUE(found->is_smallest);
  EXPECT_EQ(heap.find(530 * mib)->in_use_bytes, 22 * mib);
  EXPECT_EQ(heap.find(580 * mib)->in_use_bytes, 42 * mib);
  EXPECT_EQ(heap.find(1196 * mib)->segments.size(), 4U);
  EXPECT_FALSE(heap.find(1198 * mib));
  EXPECT_FALSE(heap.find(0));
}

TEST(WholeSegments, equal_brute_force) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::vector<Row> rows;
    const std::size_t count = 1 + random() % 9;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t size = 2 * mib * (1 + random() % 12);
      rows.push_back({size, std::min(size, 512 * (random() % 20'000))});
    }
    const std::uint64_t wanted = 1 + random() % (60 * mib);
    std::uint64_t least = ~std::uint64_t{0};
    for (unsigned set = 0; set < (1U << count); ++set) {
      std::uint64_t size = 0, in_use = 0;
      for (std::size_t i = 0; i < count; ++i)
        if ((set >> i & 1) != 0) size += rows[i].size, in_use += rows[i].in_use;
      if (size >= wanted) least = std::min(least, in_use);
    }
    const auto found = Heap(rows).find(wanted);
    ASSERT_EQ(found.has_value(), least != ~std::uint64_t{0}) << round;
    if (!found) continue;
    ASSERT_EQ(found->in_use_bytes, least) << round;
    ASSERT_GE(found->bytes, wanted) << round;
  }
}

TEST(WholeSegments, too_many_are_chosen_one_by_one) {
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < 5000; ++i) rows.push_back({20 * mib, i % 10 == 0 ? mib : 20 * mib});
  const auto found = Heap(rows).find(60 * gib);
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->is_smallest);
  EXPECT_GE(found->bytes, 60 * gib);
  EXPECT_LT(found->bytes, 60 * gib + 20 * mib);
}

// No segment is as large as the request, so there is no place in one.
TEST(WholeSegments, are_a_part_of_the_diagnosis_of_pytorch) {
  TraceBuilder builder;
  builder.writer.add_job_fact("framework", "pytorch");
  const std::uint32_t heap =
      builder.pool("GPU 0 PyTorch pool", wire::heap_flag::has_addresses | wire::heap_flag::has_regions);
  for (std::uint64_t i = 0; i < 4; ++i) {
    builder.grow(heap, (16 + i) * gib, 512 * mib);
    builder.alloc(heap, (16 + i) * gib, (i + 1) * 100 * mib);
  }
  builder.run_out(heap, 900 * mib, 300 * mib);
  builder.writer.flush();
  const Diagnosis found = diagnose(builder.trace, find_failed_requests(builder.trace).front(), Depth::full);
  EXPECT_FALSE(found.facts.place);
  ASSERT_TRUE(found.segments);
  EXPECT_EQ(found.segments->segments.size(), 2U);
  EXPECT_EQ(found.segments->in_use_bytes, 300 * mib);
}

}  // namespace
}  // namespace hbmscope
