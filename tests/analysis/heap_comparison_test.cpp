// The same program on two allocators: corresponding times, and the differences there.
#include "analysis/diagnose/heap_comparison.h"

#include <algorithm>
#include <limits>

#include "analysis/query/moment_comparison.h"
#include "tests/analysis/trace_builder.h"
#include "tests/sizes.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t paired_heap_flags = wire::heap_flag::has_regions | wire::heap_flag::has_requested;

// Three blocks of 10 MiB, of which the first and the third are freed, followed by a request of 25 MiB.
class Program {
  TraceBuilder builder_;

 public:
  std::uint32_t heap = builder_.heap("GPU 0", paired_heap_flags);

  // A pool of 40 MiB, taken at once: the request finds 30 MiB in pieces.
  static void run_in_pool(Program& program, std::uint64_t base = 0) {
    program.builder_.grow(program.heap, base, 40 * mib);
    for (std::uint64_t i = 0; i < 3; ++i) program.alloc(base + i * 10 * mib, 10 * mib);
    program.free(base);
    program.free(base + 20 * mib);
    program.fail(25 * mib);
  }
  // Each block is allocated from the driver and freed, far apart and with a clock that is half as fast.
  static void run_from_driver(Program& program) {
    constexpr std::uint64_t apart = 100 * mib;
    program.builder_.time_ns += 5'000'000;
    for (std::uint64_t i = 0; i < 3; ++i) {
      program.builder_.time_ns += 1000;
      program.builder_.grow(program.heap, i * apart, 10 * mib);
      program.alloc(i * apart, 10 * mib);
    }
    for (const std::uint64_t gone : {0 * apart, 2 * apart}) {
      program.free(gone);
      program.shrink(gone, 10 * mib);
    }
    program.builder_.grow(program.heap, 3 * apart, 25 * mib);
    program.alloc(3 * apart, 25 * mib);
  }

  const Trace& trace() {
    builder_.writer.flush();
    return builder_.trace;
  }

 private:
  void alloc(std::uint64_t address, std::uint64_t size) { builder_.alloc(heap, address, size); }
  void free(std::uint64_t address) { builder_.free(heap, address); }
  void shrink(std::uint64_t address, std::uint64_t size) {
    wire::RegionShrinkRecord record;
    record.heap = heap;
    record.address = address;
    record.size = size;
    builder_.writer.add(record, builder_.time_ns += 1000);
  }
  void fail(std::uint64_t requested) {
    wire::OutOfMemoryRecord record;
    record.requested = requested;
    record.available = wire::unknown_bytes;
    record.heap = heap;
    builder_.writer.add(record, builder_.time_ns += 1000);
  }
};

struct Both {
  Program a, b;
  Both() {
    Program::run_in_pool(a);
    Program::run_from_driver(b);
  }
  MatchingMoment b_when_a_is_at(std::uint64_t position, SameMoment same = SameMoment::requests) {
    return *find_matching_moment(a.trace(), {0, a.heap}, position, b.trace(), {0, b.heap}, same);
  }
  MatchingMoment a_when_b_is_at(std::uint64_t position) {
    return *find_matching_moment(b.trace(), {0, b.heap}, position, a.trace(), {0, a.heap}, SameMoment::requests);
  }
  HeapComparison compare(std::uint64_t at_a, std::uint64_t at_b) {
    const std::vector<StreamState> of_a{a.trace().streams[0].state_at(at_a)}, of_b{b.trace().streams[0].state_at(at_b)};
    return *compare_heaps({a.trace(), of_a, {0, a.heap}, at_a}, {b.trace(), of_b, {0, b.heap}, at_b});
  }
};

std::uint64_t in_use(const Trace& trace, std::uint64_t position) {
  return trace.streams[0].state_at(position).in_use_bytes(1);
}

// A: 1 grow, 3 allocs, 2 frees, the failure. B: 3 times grow and alloc, 2 times free and shrink, grow, alloc.
TEST(MatchingMoment, same_requests_is_the_same_point_of_the_program) {
  Both both;
  for (std::uint64_t position = 1; position <= 6; ++position) {
    const MatchingMoment found = both.b_when_a_is_at(position);
    EXPECT_FALSE(found.is_short) << position;
    EXPECT_EQ(in_use(both.a.trace(), position), in_use(both.b.trace(), found.position)) << position;
  }
  EXPECT_EQ(0U, both.b_when_a_is_at(0).position);
  // Just before the request that fails in A: both frees are done, and what they gave back is gone, but B's pool has not
  // grown for the next one.
  EXPECT_EQ(10U, both.b_when_a_is_at(6).position);
  EXPECT_EQ(10 * mib, both.b.trace().streams[0].state_at(10).heap(both.b.heap).space.region_bytes());
  // After the failure, which was a request too: B has served it.
  EXPECT_EQ(12U, both.b_when_a_is_at(7).position);
  EXPECT_EQ(7U, both.a_when_b_is_at(12).position);
  EXPECT_EQ(6U, both.a_when_b_is_at(10).position);
  EXPECT_EQ(4U, both.a_when_b_is_at(6).position);
}

TEST(MatchingMoment, a_trace_that_ends_before_says_so) {
  Both both;
  Program longer;
  Program::run_in_pool(longer);
  Program::run_in_pool(longer, 100 * mib);
  const std::uint64_t end = longer.trace().streams[0].end_position();
  const auto found = find_matching_moment(longer.trace(), {0, longer.heap}, end, both.a.trace(), {0, both.a.heap},
                                          SameMoment::requests);
  EXPECT_TRUE(found->is_short);
  EXPECT_EQ(both.a.trace().streams[0].end_position(), found->position);
}

TEST(MatchingMoment, same_time_counts_from_each_first_event) {
  Both both;
  // A's third event comes 2 us after its first one; B's grows and allocations are 2 and 1 us apart.
  const MatchingMoment found = both.b_when_a_is_at(3, SameMoment::time);
  const Stream& b = both.b.trace().streams[0];
  EXPECT_LE(b.state_at(found.position).time_ns(), b.first_time_ns() + 2000);
  EXPECT_GT(b.state_at(found.position + 1).time_ns(), b.first_time_ns() + 2000);
}

// A file may say any time.
TEST(MatchingMoment, of_any_times_is_a_moment) {
  TraceBuilder endless, brief;
  const HeapKey heap{0, endless.heap("GPU 0", paired_heap_flags)}, other{0, brief.heap("GPU 0", paired_heap_flags)};
  endless.time_ns = std::numeric_limits<std::int64_t>::min();
  endless.alloc(heap.heap, 0, mib);
  endless.time_ns = std::numeric_limits<std::int64_t>::max() - 1000;
  endless.alloc(heap.heap, mib, mib);
  for (std::uint64_t i = 0; i < 3; ++i) brief.alloc(other.heap, i * mib, mib);
  endless.writer.flush();
  brief.writer.flush();
  const auto found = find_matching_moment(endless.trace, heap, 2, brief.trace, other, SameMoment::time);
  EXPECT_TRUE(found->is_short);
  EXPECT_EQ(found->position, 3U);
}

TEST(MatchingMoment, frees_of_other_heaps_do_not_count) {
  // Two heaps in one stream: between the requests of the first, blocks of the second come and go.
  TraceBuilder one, two;
  const std::uint32_t alone = one.heap("GPU 0", paired_heap_flags), heap = two.heap("GPU 0", paired_heap_flags),
                      other = two.heap("GPU 1", paired_heap_flags);
  for (std::uint64_t i = 0; i < 3; ++i) {
    one.alloc(alone, i * mib, mib);
    two.alloc(other, i * mib, mib);
    two.free(other, i * mib);
    two.alloc(heap, i * mib, mib);
    two.alloc(other, (i + 10) * mib, mib);
    two.free(other, (i + 10) * mib);
  }
  one.free(alone, 0);
  two.free(heap, 0);
  one.writer.flush();
  two.writer.flush();
  const auto beside = [&](std::uint64_t position) {
    return *find_matching_moment(one.trace, {0, alone}, position, two.trace, {0, heap}, SameMoment::requests);
  };
  for (std::uint64_t position = 1; position <= 4; ++position)
    EXPECT_EQ(one.trace.streams[0].state_at(position).heap(alone).in_use_bytes,
              two.trace.streams[0].state_at(beside(position).position).heap(heap).in_use_bytes)
        << position;
  EXPECT_EQ(3U, beside(1).position) << "just after the request: nothing is missing";
  EXPECT_EQ(16U, beside(4).position) << "its own free, not those of the other heap";
  // In the same heap of the same trace it is at the same address.
  EXPECT_EQ(9U, find_matching_moment(two.trace, {0, heap}, 9, two.trace, {0, heap}, SameMoment::requests)->position);
}

TEST(MatchingMoment, a_cancelled_search_has_no_answer) {
  Both both;
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(find_matching_moment(both.a.trace(), {0, both.a.heap}, 3, both.b.trace(), {0, both.b.heap},
                                    SameMoment::requests, &control));
}

const ComparisonRow& row_of(const HeapComparison& heaps, std::string_view name) {
  return *std::find_if(heaps.rows.begin(), heaps.rows.end(),
                       [&](const ComparisonRow& row) { return row.name == name; });
}

bool says(const HeapComparison& heaps, std::string_view words) {
  return std::any_of(heaps.sentences.begin(), heaps.sentences.end(),
                     [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

TEST(HeapComparison, before_the_failure_the_text_names_the_request_that_fails) {
  Both both;
  const HeapComparison heaps = both.compare(6, 10);
  EXPECT_EQ(3, row_of(heaps, "requests").a);
  EXPECT_EQ(3, row_of(heaps, "requests").b);
  EXPECT_EQ(1, row_of(heaps, "failures").a) << "the one at which it is shown counts";
  EXPECT_EQ(0, row_of(heaps, "failures").b);
  EXPECT_FALSE(says(heaps, "one request failed"));
  EXPECT_EQ(static_cast<std::int64_t>(40 * mib), row_of(heaps, "pool size").a);
  EXPECT_EQ(static_cast<std::int64_t>(10 * mib), row_of(heaps, "pool size").b);
  EXPECT_EQ(3333, row_of(heaps, "external fragmentation").a) << "20 of 30 MiB free are in one piece";
  EXPECT_EQ(std::nullopt, row_of(heaps, "external fragmentation").b) << "nothing is free";
  EXPECT_TRUE(heaps.sentences.front().starts_with("A fails at the next request. Fragmented: requested 25.0 MiB"))
      << heaps.sentences.front();
  EXPECT_TRUE(says(heaps, "B serves its next request."));
  EXPECT_TRUE(says(heaps, "Both have handled 3 requests."));
  EXPECT_TRUE(says(heaps, "In use: 10.0 MiB in both."));
  EXPECT_TRUE(says(heaps, "Reserved by the pool: A 40.0 MiB, B 10.0 MiB (30.0 MiB less in B)."));
  EXPECT_TRUE(says(heaps, "Largest free block: A 20.0 MiB; B none."));
}

TEST(HeapComparison, after_it_they_report_that_one_failed_and_one_served_all) {
  Both both;
  const HeapComparison heaps = both.compare(7, 12);
  EXPECT_EQ(1, row_of(heaps, "failures").a);
  EXPECT_EQ(0, row_of(heaps, "failures").b);
  EXPECT_TRUE(heaps.sentences.front().starts_with("A: one request failed. Fragmented: requested 25.0 MiB"));
  EXPECT_EQ("B served every request up to here.", heaps.sentences[1]);
  EXPECT_TRUE(says(heaps, "In use: A 10.0 MiB, B 35.0 MiB (25.0 MiB more in B)."));
}

}  // namespace
}  // namespace hbmscope
