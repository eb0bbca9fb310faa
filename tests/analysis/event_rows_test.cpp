// The events of a time range, compared with a replay of the whole stream.
#include "analysis/query/event_rows.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/analysis/trace_builder.h"

namespace hbmscope {
namespace {

constexpr std::uint32_t event_rows_flags =
    wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses;

TEST(EventRows, every_stretch_is_the_same_part_of_the_whole) {
  std::mt19937 random(11);
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", event_rows_flags);
  const std::uint32_t stack = built.stack("main;step"), name = built.writer.define_string("step 1");
  built.live(heap, 0x900000, 64);
  built.grow(heap, 0, 0x100000);
  struct Expected {
    wire::RecordKind kind;
    std::uint64_t address;
  };
  std::vector<Expected> expected{{wire::RecordKind::region_grow, 0}};
  std::vector<bool> lives(64, false);
  for (int i = 0; i < 900; ++i) {
    const std::size_t at = random() % 64;
    if (i % 40 == 0) {
      wire::MarkerRecord mark;
      mark.name = name;
      built.writer.add(mark, built.time_ns += 1000);
      expected.push_back({wire::RecordKind::marker, 0});
    }
    if (lives[at]) {
      built.free(heap, at * 0x1000);
      expected.push_back({wire::RecordKind::free, at * 0x1000});
    } else {
      built.alloc(heap, at * 0x1000, 0x800, stack);
      expected.push_back({wire::RecordKind::alloc, at * 0x1000});
    }
    lives[at] = !lives[at];
    if (i % 101 == 0) built.writer.flush();
  }
  built.free(heap, 0x900000);
  expected.push_back({wire::RecordKind::free, 0x900000});
  built.states_at();
  const Stream& stream = built.trace.streams[0];
  const std::vector<EventRow> all = compute_event_rows(stream, 0, ~std::uint64_t{0});
  ASSERT_EQ(expected.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(i, all[i].event);
    EXPECT_EQ(expected[i].kind, all[i].kind) << i;
    EXPECT_EQ(stream.state_at(i + 1).time_ns(), all[i].time_ns);
    if (all[i].kind == wire::RecordKind::marker) {
      EXPECT_EQ("step 1", stream.definitions().text(all[i].text));
      continue;
    }
    EXPECT_EQ(expected[i].address, all[i].address) << i;
    if (all[i].kind == wire::RecordKind::alloc) {
      EXPECT_EQ(i, all[i].allocation);
      EXPECT_EQ(stack, all[i].stack);
    } else if (all[i].kind == wire::RecordKind::free && all[i].allocation) {
      EXPECT_EQ(wire::RecordKind::alloc, all[*all[i].allocation].kind);
      EXPECT_EQ(all[i].address, all[*all[i].allocation].address);
      EXPECT_EQ(0x800U, all[i].size);
    }
  }
  EXPECT_FALSE(all.back().allocation) << "it lived before the stream";
  EXPECT_EQ(64U, all.back().size);
  for (int i = 0; i < 50; ++i) {
    const std::uint64_t first = random() % all.size(), last = first + random() % 300;
    const std::vector<EventRow> part = compute_event_rows(stream, first, last);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(last, all.size()));
    EXPECT_EQ(std::vector<EventRow>(begin, end), part) << first << " to " << last;
  }
  EXPECT_TRUE(compute_event_rows(stream, all.size(), all.size() + 10).empty());
}

TEST(EventRows, failures_and_unknown_frees_have_their_fields) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", event_rows_flags);
  wire::OutOfMemoryRecord failure;
  failure.requested = 1234;
  failure.heap = heap;
  failure.stack = built.stack("main");
  built.writer.add(failure, built.time_ns += 1000);
  built.free(heap, 0x7000);
  built.states_at();
  const auto rows = compute_event_rows(built.trace.streams[0], 0, 10);
  ASSERT_EQ(2U, rows.size());
  EXPECT_EQ(1234U, rows[0].requested);
  EXPECT_EQ(failure.stack, rows[0].stack);
  EXPECT_EQ("out of memory", words_for_event(rows[0]));
  EXPECT_EQ(0x7000U, rows[1].address);
  EXPECT_EQ("freed, unknown", words_for_event(rows[1]));
}

}  // namespace
}  // namespace hbmscope
