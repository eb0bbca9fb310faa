// The contents of an address over time, compared with a look at every state from the first event to the last.
#include "analysis/query/block_history.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

#include "analysis/query/rebuilt_history.h"
#include "tests/analysis/trace_builder.h"

namespace hbmscope {

static bool operator==(const HeldRow& a, const HeldRow& b) {
  const auto all = [](const HeldRow& row) {
    return std::tuple(row.event, row.begin_ns, row.address, row.size, row.requested, row.stack, row.tag,
                      row.device_stream, row.how, row.end_event, row.end_ns, row.end_stack);
  };
  return all(a) == all(b);
}
static bool operator==(const FreeSince& a, const FreeSince& b) {
  const auto all = [](const FreeSince& since) {
    return std::tuple(since.why, since.event, since.time_ns, since.size, since.stack, since.allocated_stack);
  };
  return all(a) == all(b);
}

namespace {

constexpr std::uint32_t all_reported =
    wire::heap_flag::has_regions | wire::heap_flag::has_requested | wire::heap_flag::has_addresses;

TEST(AddressHistory, rows_are_what_every_state_shows_at_the_address) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    std::mt19937 random(seed);
    TraceBuilder built;
    const std::uint32_t heap = built.heap("GPU 0", all_reported), other = built.heap("GPU 1", all_reported);
    built.grow(heap, 0, 0x10000);
    std::vector<std::uint64_t> sizes(16, 0);  // A block may begin at each 0x1000 and is as long as nothing is over.
    for (int i = 0; i < 800; ++i) {
      const std::size_t at = random() % 16;
      if (sizes[at] != 0) {
        sizes[at] = 0;
        built.free(heap, at * 0x1000);
        continue;
      }
      std::size_t room = 0;
      while (at + room < 16 && sizes[at + room] == 0 && room < 3) ++room;
      for (std::size_t before = at < 3 ? 0 : at - 3; before < at; ++before)
        if (before * 0x1000 + sizes[before] > at * 0x1000) room = 0;
      if (room == 0) continue;
      sizes[at] = (1 + random() % room) * 0x1000;
      built.alloc(heap, at * 0x1000, sizes[at], built.stack("main"));
      if (i % 50 == 0) built.alloc(other, at * 0x1000, 64);
      if (i % 100 == 0) built.writer.flush();
    }
    built.states_at();
    const Stream& stream = built.trace.streams[0];
    const std::uint64_t address = 0x5800;
    struct Held {
      std::uint64_t event, begin, end;  // The number of events after which it is first seen, and no longer seen.
    };
    std::vector<Held> expected;
    StreamState state = stream.state_at(0);
    for (std::uint64_t position = 1; position <= stream.end_position(); ++position) {
      stream.advance(state, position);
      std::optional<std::uint64_t> held;
      for (const LiveBlock& block : state.slots())
        if (block.heap == heap && block.address <= address && address < block.address + block.size) held = block.event;
      const bool goes_on = !expected.empty() && expected.back().end == 0;
      if (goes_on && held != expected.back().event) expected.back().end = position;
      if (held && (expected.empty() || expected.back().event != *held)) expected.push_back({*held, position, 0});
    }
    ASSERT_GT(expected.size(), 10U);
    const std::uint64_t moment = stream.end_position() / 2;
    const auto history = compute_address_history(stream, heap, {address, address + 1}, moment);
    ASSERT_EQ(expected.size(), history->rows.size());
    std::optional<std::size_t> now;
    std::optional<std::uint64_t> since;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const HeldRow& row = history->rows[i];
      EXPECT_EQ(expected[i].event, row.event);
      EXPECT_EQ(expected[i].begin, row.event + 1);
      EXPECT_EQ(stream.state_at(row.event + 1).time_ns(), row.begin_ns);
      EXPECT_EQ(expected[i].end == 0 ? HeldEnd::lives : HeldEnd::freed, row.how);
      EXPECT_EQ(expected[i].end == 0 ? HeldRow::no_event : expected[i].end - 1, row.end_event);
      if (expected[i].begin <= moment && (expected[i].end == 0 || expected[i].end > moment)) now = i;
      if (expected[i].end != 0 && expected[i].end <= moment) since = row.end_event;
    }
    EXPECT_EQ(now, history->now);
    ASSERT_TRUE(history->since);
    EXPECT_EQ(since, history->since->event);
    EXPECT_EQ(FreeSince::Why::freed, history->since->why);
  }
}

// Everything that a stream may contain except moves, in any order: requests that a heap refuses, heaps that disappear,
// new listings.
void add_disorder(TraceBuilder& built, std::mt19937& random, const std::vector<std::uint32_t>& heaps) {
  const std::uint32_t heap = heaps[random() % heaps.size()];
  const std::uint64_t address = (random() % 32) * 0x800, size = (random() % 5) * 0x800;
  switch (random() % 64) {
    case 0: return built.remove(heap);
    case 1: return built.grow(heap, address & ~0x3fffU, 0x4000);
    case 2: return built.alloc(heap, address, ~std::uint64_t{0} - address / 2);
    case 3: return built.alloc(heap, address, 0x800, 0, wire::block_flag::has_no_address);
    case 4: {  // A listing, of this heap or of all of them, that names one block.
      wire::ListingRecord listing;
      listing.heap = random() % 4 == 0 ? 0 : heap;
      built.writer.add(listing, built.time_ns += 1000);
      wire::LiveRecord live;
      live.heap = heap;
      live.address = address;
      live.size = 0x1000;
      live.slot = static_cast<std::uint32_t>(random() % 40);
      built.writer.add(live, built.time_ns);
      listing.phase = 1;
      built.writer.add(listing, built.time_ns);
      return;
    }
    case 5: {  // A slot that may hold nothing.
      wire::FreeRecord free;
      free.slot = static_cast<std::uint32_t>(random() % 40);
      built.writer.add(free, built.time_ns += 1000);
      return;
    }
    case 6: return built.writer.flush();
    case 7: built.time_ns += 50'000; return;
    default: break;
  }
  if (random() % 2 == 0)
    built.alloc(heap, address, size, built.stack("f" + std::to_string(random() % 4)));
  else
    built.free(heap, address);
}

TEST(AddressHistory, watching_the_address_alone_sees_what_rebuilding_the_heap_sees) {
  std::size_t rows = 0, not_listed = 0, gone = 0;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder built;
    const std::vector<std::uint32_t> heaps{built.heap("GPU 0", all_reported), built.heap("GPU 1", 0)};
    for (int i = 0; i < 20; ++i) built.live(heaps[static_cast<std::size_t>(i % 2)], (random() % 32) * 0x800, 0x800);
    for (int i = 0; i < 600; ++i) add_disorder(built, random, heaps);
    built.states_at();
    const Stream& stream = built.trace.streams[0];
    for (std::uint64_t begin = 0; begin < 0x10000; begin += 0x1400) {
      const AddressRange range{begin, begin + 1 + random() % 0x1800};
      const std::uint64_t moment = random() % (stream.end_position() + 1);
      const auto watched = compute_address_history(stream, heaps[0], range, moment);
      const auto rebuilt = rebuild_address_history(stream, heaps[0], range, moment);
      ASSERT_EQ(rebuilt->rows, watched->rows) << "seed " << seed << ", address " << begin;
      ASSERT_EQ(rebuilt->since, watched->since) << "seed " << seed << ", address " << begin;
      ASSERT_EQ(rebuilt->now, watched->now);
      rows += watched->rows.size();
      for (const HeldRow& row : watched->rows) {
        not_listed += row.how == HeldEnd::not_listed ? 1 : 0;
        gone += row.how == HeldEnd::heap_gone ? 1 : 0;
      }
    }
  }
  EXPECT_GT(rows, 5'000U);
  EXPECT_GT(not_listed, 100U);
  EXPECT_GT(gone, 100U);
}

TEST(AddressHistory, gap_is_free_since_the_last_of_its_parts_was_freed_or_its_region_came) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", all_reported);
  built.grow(heap, 0, 0x4000);                          // Event 0.
  built.alloc(heap, 0x1000, 0x1000, built.stack("a"));  // 1
  built.alloc(heap, 0x2000, 0x1000, built.stack("b"));  // 2
  built.free(heap, 0x2000);                             // 3
  built.free(heap, 0x1000);                             // 4
  const auto states = built.states_at();
  const Stream& stream = built.trace.streams[0];
  const auto now = compute_address_history(stream, heap, {0, 0x4000}, 5);
  EXPECT_TRUE(now->rows.empty()) << "nothing was ever at its first address";
  EXPECT_EQ(4U, now->since->event);
  EXPECT_EQ("a",
            stream.definitions().text(
                stream.definitions().frame(stream.definitions().stack(now->since->allocated_stack).frame).function));
  EXPECT_EQ(3U, compute_address_history(stream, heap, {0x2000, 0x4000}, 5)->since->event);
  const auto at_first = compute_address_history(stream, heap, {0x3000, 0x4000}, 5);
  EXPECT_EQ(FreeSince::Why::region_grew, at_first->since->why);
  EXPECT_EQ(0x4000U, at_first->since->size);
}

TEST(AddressHistory, moves_listings_and_heaps_that_go_end_what_was_there) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", all_reported);
  built.live(heap, 0x1000, 0x1000, built.stack("old"));
  built.alloc(heap, 0x8000, 0x1000);  // Event 0, slot 1.
  wire::MoveRecord move;
  move.slot = 0;
  move.address = 0x4000;
  built.writer.add(move, built.time_ns += 1000);  // 1
  move.slot = 1;
  move.address = 0x1000;
  built.writer.add(move, built.time_ns += 1000);  // 2
  wire::HeapGoneRecord gone;
  gone.heap = heap;
  built.writer.add(gone, built.time_ns += 1000);  // 3
  built.states_at();
  const auto history = compute_address_history(built.trace.streams[0], heap, {0x1000, 0x1001}, 3);
  ASSERT_EQ(2U, history->rows.size());
  EXPECT_EQ(HeldRow::no_event, history->rows[0].event);
  EXPECT_FALSE(history->rows[0].begin_ns);
  EXPECT_EQ(HeldEnd::moved, history->rows[0].how);
  EXPECT_EQ(1U, history->rows[0].end_event);
  EXPECT_EQ(2U, history->rows[1].event) << "it came here when it was moved here";
  EXPECT_EQ(HeldEnd::heap_gone, history->rows[1].how);
  EXPECT_EQ(3U, history->rows[1].end_event);
  EXPECT_EQ(1U, history->now);
}

// Also where the address is free at the given time.
TEST(AddressHistory, few_rows_are_those_around_the_given_time) {
  TraceBuilder built;
  const std::uint32_t heap = built.heap("GPU 0", all_reported);
  for (int i = 0; i < 20; ++i) {  // Events 2 i and 2 i + 1.
    built.alloc(heap, 0x1000, 16);
    built.free(heap, 0x1000);
  }
  built.states_at();
  const auto rows_at = [&](std::uint64_t position, std::size_t most) {
    return compute_address_history(built.trace.streams[0], heap, {0x1000, 0x1001}, position)->rows_around(most);
  };
  using Part = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(rows_at(20, 5), Part(7, 12)) << "free since the tenth";
  EXPECT_EQ(rows_at(21, 5), Part(8, 13)) << "held by the eleventh";
  EXPECT_EQ(rows_at(0, 5), Part(0, 5));
  EXPECT_EQ(rows_at(40, 5), Part(15, 20));
  EXPECT_EQ(rows_at(20, 0), Part(0, 20));
  EXPECT_EQ(rows_at(20, 30), Part(0, 20));
}

TEST(PlaceAt, is_a_block_a_gap_or_nothing_and_free_only_if_reported) {
  TraceBuilder built;
  const std::uint32_t reported = built.heap("GPU 0", all_reported), unreported = built.heap("GPU 1", 0);
  built.grow(reported, 0x1000, 0x4000);
  built.alloc(reported, 0x2000, 0x1000);
  built.alloc(reported, 0x9000, 0x1000);  // Outside of the region.
  built.alloc(unreported, 0x2000, 0x1000);
  const auto states = built.states_at();
  const PlaceAt block = find_place(states[0], reported, 0x2fff);
  EXPECT_EQ(PlaceAt::What::block, block.what);
  EXPECT_EQ((AddressRange{0x2000, 0x3000}), block.range);
  EXPECT_EQ(0x2000U, states[0].slots()[*block.slot].address);
  const PlaceAt gap = find_place(states[0], reported, 0x3000);
  EXPECT_EQ(PlaceAt::What::free, gap.what);
  EXPECT_EQ((AddressRange{0x3000, 0x5000}), gap.range);
  EXPECT_EQ(PlaceAt::What::no_memory, find_place(states[0], reported, 0x5000).what);
  EXPECT_EQ(PlaceAt::What::block, find_place(states[0], reported, 0x9000).what);
  EXPECT_EQ(PlaceAt::What::not_identified, find_place(states[0], unreported, 0x3000).what);
}

TEST(AddressHistory, cancelled_pass_gives_nothing) {
  TraceBuilder built;
  built.alloc(built.heap("GPU 0", all_reported), 0x1000, 16);
  built.states_at();
  PassControl control;
  control.cancelled = true;
  EXPECT_FALSE(compute_address_history(built.trace.streams[0], 1, {0x1000, 0x1001}, 1, &control));
}

}  // namespace
}  // namespace hbmscope
