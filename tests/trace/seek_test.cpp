// A state reached from a keyframe, with the plain blocks after it applied at once, compared with the same state reached
// event by event.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "analysis/trace/keyframe.h"
#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/random_stream.h"

namespace hbmscope {
namespace {

TEST(Seek, plain_blocks_at_once_are_as_event_by_event) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream made(seed);
    made.run(1000, 20, false);
    const std::size_t begin = made.stream.blocks().size();
    const std::uint64_t begin_event = made.stream.end_position();
    const std::uint64_t problems = made.stream.last_state().count_problems();
    made.run(3000, 0);
    const Stream& stream = made.stream;
    ASSERT_EQ(problems, stream.last_state().count_problems());
    Random random(seed);
    // Where a block begins, and inside of one.
    for (const std::uint64_t from : {begin_event, begin_event + 1 + random() % 2000}) {
      wire::BlockEncoder encoder(0, wire::BlockType::keyframe);
      const Keyframe keyframe = stream.state_at(from).make_keyframe(encoder);
      ASSERT_LE(begin, keyframe.next_block);
      const std::vector<wire::SharedBlock> plain(
          stream.blocks().begin() + static_cast<std::ptrdiff_t>(keyframe.next_block), stream.blocks().end());
      StreamState walked;
      for (std::uint64_t end = from; end <= stream.end_position(); end += 1 + random() % 60) {
        stream.advance(walked, end);
        StreamState sought = StreamState::from_keyframe(keyframe, stream.definitions(), plain, end);
        ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << end;
        // And continues from there.
        StreamState later = walked;
        stream.advance(later, end + 100);
        stream.advance(sought, end + 100);
        ASSERT_NO_FATAL_FAILURE(expect_same(later, sought)) << end;
      }
    }
  }
}

// Where a block begins there may be definitions before its first event.
TEST(Seek, ends_of_blocks_are_as_event_by_event) {
  RandomStream made(200);
  made.run(70'000, 0);
  made.run(10'000, 1);
  made.run(10'000, 0);
  StreamState walked;
  for (const wire::SharedBlock& block : made.stream.blocks()) {
    if (block->header.events == 0) continue;
    for (const std::uint64_t at : {block->header.first_event, block->header.first_event + 1}) {
      made.stream.advance(walked, at);
      StreamState sought = made.stream.version().state_at(at);
      ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << at;
      StreamState later = walked;
      made.stream.advance(later, at + 1000);
      made.stream.advance(sought, at + 1000);
      ASSERT_NO_FATAL_FAILURE(expect_same(later, sought)) << at;
    }
  }
}

// Long enough for several keyframes; out-of-order events come in stretches, so that some blocks are plain.
TEST(Seek, moments_of_long_streams_are_as_event_by_event) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream made(100 + seed);
    for (int stretch = 0; stretch < 5; ++stretch) {
      made.run(70'000, 0);
      made.run(20'000, 3);
    }
    StreamState walked;
    Random random(seed);
    for (std::uint64_t at = 0; at <= made.stream.end_position(); at += 1 + random() % 9000) {
      made.stream.advance(walked, at);
      ASSERT_NO_FATAL_FAILURE(expect_same(walked, made.stream.state_at(at))) << at;
    }
  }
}

// More new blocks than there is room for at a time, before, between and after older ones: few, some of their addresses,
// or also loose ones; and in a heap that was empty. Some of the old blocks come back at their addresses.
TEST(Seek, many_new_blocks_between_old_ones_are_as_event_by_event) {
  constexpr std::uint64_t page = 4096, pages = 10'000;
  struct Case {
    bool (*is_old)(std::uint64_t number);
    std::uint64_t loose;  // Every n-th of the old blocks has another one over it; 0: none.
  };
  const Case cases[] = {{[](std::uint64_t number) { return number == 3000 || number == 3001 || number == 7000; }, 0},
                        {[](std::uint64_t number) { return number >= 2000 && number < 2900; }, 0},
                        {[](std::uint64_t number) { return number >= 9000; }, 3},
                        {[](std::uint64_t number) { return number % 7 == 0; }, 1}};
  for (const Case& each : cases) {
    SCOPED_TRACE(&each - cases);
    Stream stream;
    wire::StreamWriter writer(
        0, [&](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); });
    wire::HeapRecord heap;
    heap.flags = wire::heap_flag::has_regions;
    std::int64_t time = 0;
    for (int i = 0; i < 2; ++i) {
      wire::RegionGrowRecord region;
      region.heap = writer.define_heap(heap, "heap", "device");
      region.size = page * pages;
      writer.add(region, ++time);
    }
    const auto alloc = [&](std::uint32_t id, std::uint64_t address) {
      wire::AllocRecord block;
      block.address = address;
      block.size = page / 2;
      block.heap = id;
      writer.alloc(block, ++time);
    };
    for (std::uint64_t number = 0; number < pages; ++number) {
      if (!each.is_old(number)) continue;
      alloc(1, number * page);
      if (each.loose > 0 && number % each.loose == 0) alloc(1, number * page + page / 4);
    }
    writer.flush();
    const std::uint64_t begin_event = stream.end_position();
    const std::uint64_t problems = stream.last_state().count_problems();
    wire::BlockEncoder encoder(0, wire::BlockType::keyframe);
    const Keyframe keyframe = stream.last_state().make_keyframe(encoder);
    std::vector<std::uint64_t> numbers(pages);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
    std::shuffle(numbers.begin(), numbers.end(), Random(5));
    for (const std::uint64_t number : numbers) {
      const bool is_old = each.is_old(number);
      if (number % 2 == 0) alloc(2, number * page);
      if (is_old && number % 3 != 2) writer.free(1, number * page, 0, 0, ++time);
      if (!is_old || number % 3 == 0) alloc(1, number * page);
    }
    writer.flush();
    ASSERT_EQ(problems, stream.last_state().count_problems());
    const std::vector<wire::SharedBlock> plain(
        stream.blocks().begin() + static_cast<std::ptrdiff_t>(keyframe.next_block), stream.blocks().end());
    StreamState walked;
    for (std::uint64_t end = begin_event; end <= stream.end_position(); end += 1 + end / 7) {
      stream.advance(walked, end);
      ASSERT_NO_FATAL_FAILURE(
          expect_same(walked, StreamState::from_keyframe(keyframe, stream.definitions(), plain, end)))
          << end;
    }
  }
}

// A listing may name any slot below what the stream had blocks for: also those that came before the keyframe count.
TEST(Seek, what_is_listed_after_a_keyframe_is_taken_as_on_the_whole_way) {
  Stream stream;
  wire::StreamWriter writer(0,
                            [&](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); });
  const std::uint32_t heap = writer.define_heap({}, "heap", "device");
  std::int64_t time = 0;
  for (int i = 0; i < 50'000; ++i) {
    wire::AllocRecord block;
    block.address = 4096;
    block.size = 512;
    block.heap = heap;
    writer.alloc(block, ++time);
    writer.free(heap, 4096, 0, 0, ++time);
  }
  writer.flush();
  const auto add = [&](std::uint8_t phase) {
    wire::ListingRecord listing;
    listing.phase = phase;
    writer.add(listing, ++time);
  };
  add(0);
  wire::LiveRecord live;
  live.address = 1 << 20;
  live.size = 1024;
  live.heap = heap;
  live.slot = 5000;
  writer.add(live, ++time);
  add(1);
  writer.add(wire::MarkerRecord{}, ++time);
  writer.flush();
  StreamState walked;
  stream.advance(walked, stream.end_position());
  ASSERT_EQ(1U, walked.heap(heap).live_blocks);
  const StreamState sought = stream.version().state_at(stream.end_position());
  EXPECT_EQ(1U, sought.heap(heap).live_blocks);
  EXPECT_EQ(walked.problems().total(), sought.problems().total());
}

// Before the first keyframe, too: blocks of definitions only, before, between and after those with events.
TEST(Seek, moments_near_the_beginning_are_as_event_by_event) {
  Stream stream;
  wire::StreamWriter writer(0,
                            [&](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); });
  Random random(4);
  std::vector<std::uint32_t> heaps;
  std::map<std::uint64_t, std::uint32_t> live;  // By address: heaps.
  std::int64_t time = 0;
  for (int part = 0; part < 40; ++part) {
    writer.define_string("text " + std::to_string(part));
    if (part % 8 == 0 && heaps.size() < 3) heaps.push_back(writer.define_heap({}, "heap", "device"));
    writer.flush();
    for (int i = 0; i < 50; ++i) {
      const std::uint64_t address = random() % 64 * 4096;
      if (const auto found = live.find(address); found != live.end()) {
        writer.free(found->second, address, 0, 0, ++time);
        live.erase(found);
        continue;
      }
      wire::AllocRecord block;
      block.address = address;
      block.size = 512 * (1 + random() % 8);
      block.heap = live[address] = heaps[random() % heaps.size()];
      writer.alloc(block, ++time);
    }
    writer.flush();
  }
  writer.define_string("the last one");
  writer.flush();
  ASSERT_EQ(81U, stream.blocks().size());
  const Stream version = stream.version();
  StreamState walked;
  for (std::uint64_t at = 0; at <= stream.end_position(); ++at) {
    version.advance(walked, at);
    StreamState sought = version.state_at(at);
    ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << at;
    ASSERT_EQ(walked.next_block(), sought.next_block()) << at;
    for (const std::uint32_t heap : heaps) ASSERT_FALSE(sought.heap(heap).is_inexact) << at;
    version.advance(sought, at + 75);
    StreamState later = walked;
    version.advance(later, at + 75);
    ASSERT_NO_FATAL_FAILURE(expect_same(later, sought)) << at;
  }
}

TEST(Seek, an_end_that_is_missing_is_missing_from_a_keyframe_on_too) {
  RandomStream made(7);
  made.run(80'000, 0);
  const std::uint64_t end = made.stream.end_position();
  made.stream.note_written(end + 100, made.stream.blocks().size() + 1);
  const Stream version = made.stream.version();
  const StreamState sought = version.state_at(version.end_position());
  EXPECT_EQ(end + 100, sought.position());
  for (std::uint32_t heap = 1; heap <= 3; ++heap) EXPECT_TRUE(sought.heap(heap).is_inexact) << heap;
  EXPECT_FALSE(version.state_at(end).heap(1).is_inexact);
}

}  // namespace
}  // namespace hbmscope
