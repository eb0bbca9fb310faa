// A moment reached from a keyframe, and over the plain blocks behind it at once, beside the same moment reached event
// by event.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "analysis/trace/net_changes.h"
#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/restored.h"

namespace hbmscope {
namespace {

using Random = std::mt19937_64;

// Heap 1 has regions, heap 2 has none told, heap 3 has two that join.
class RandomStream {
 public:
  explicit RandomStream(unsigned seed)
      : random_(seed),
        writer_(0, [this](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); }) {
    for (const std::uint32_t flags : {wire::heap_flag::has_regions, std::uint32_t{0}, wire::heap_flag::has_regions}) {
      wire::HeapRecord record;
      record.flags = flags | wire::heap_flag::has_requested;
      writer_.define_heap(record, "heap", "device");
    }
    region(1, 0, heap_bytes, 0);
    region(3, 0, heap_bytes / 2, wire::region_flag::joins_neighbours);
    region(3, heap_bytes / 2, heap_bytes / 2, wire::region_flag::joins_neighbours);
    writer_.flush();
  }

  // So many in a thousand are out of order. `lasting`: also blocks over others, which later ones then meet.
  void run(std::uint64_t events, unsigned out_of_order, bool lasting = true) {
    for (const std::uint64_t end = writer_.next_event() + events; writer_.next_event() < end;) {
      if (random_() % 1000 < out_of_order)
        step_out_of_order(lasting);
      else
        step();
      if (random_() % 700 == 0) end_block();
    }
    writer_.flush();
  }

  Stream stream;

 private:
  static constexpr std::uint64_t heap_bytes = 1 << 22, page = 1024;

  void region(std::uint32_t heap, std::uint64_t address, std::uint64_t size, std::uint32_t flags) {
    wire::RegionGrowRecord record;
    record.address = address;
    record.size = size;
    record.heap = heap;
    record.flags = flags;
    writer_.add(record, ++time_);
  }

  void alloc(std::uint32_t heap, std::uint64_t address, std::uint64_t size) {
    wire::AllocRecord record;
    record.address = address;
    record.size = size;
    record.requested = random_() % 10 == 0 ? wire::unknown_bytes : size - random_() % page;
    record.heap = heap;
    record.stream = static_cast<std::uint32_t>(random_() % 3);
    writer_.alloc(record, ++time_);
    live_[heap][address] = size;
  }

  // The next one is of any events, or of usual ones alone: both ways, or only some of one.
  void end_block() {
    writer_.flush();
    has_requests_ = random_() % 2 == 0;
    has_allocs_ = random_() % 4 != 0;
    has_frees_ = !has_allocs_ || random_() % 4 != 0;
    if (random_() % 4 == 0) writer_.define_frame("f", "f.py", static_cast<std::uint32_t>(random_() % 1000));
  }

  void step() {
    const auto heap = 1 + static_cast<std::uint32_t>(random_() % 3);
    auto& live = live_[heap];
    const std::uint64_t address = random_() % (heap_bytes / page) * page;
    auto at = live.upper_bound(address);
    const std::uint64_t end = at == live.end() ? heap_bytes : at->first;
    const bool is_free = at == live.begin() || std::prev(at)->first + std::prev(at)->second <= address;
    if (is_free ? !has_allocs_ : !has_frees_) return;
    if (is_free) return alloc(heap, address, std::min(end - address, (1 + random_() % 8) * page));
    --at;
    if (has_requests_ && random_() % 5 == 0) {
      writer_.free_requested(heap, at->first, 0, 0, ++time_);
    } else {
      writer_.free(heap, at->first, 0, 0, ++time_);
      live.erase(at);
    }
  }

  void step_out_of_order(bool lasting) {
    const auto heap = 1 + static_cast<std::uint32_t>(random_() % 3);
    const std::uint64_t address = random_() % (heap_bytes / page) * page;
    switch (random_() % (lasting ? 5 : 3)) {
      case 0: writer_.free(heap, address + 1, 0, 0, ++time_); break;
      case 1: region(1, heap_bytes + random_() % 8 * page, page, 0); break;
      case 2: writer_.note_loss(3, time_, time_ + 1, heap); break;
      case 3:
        if (!live_[heap].contains(address)) alloc(heap, address, 5 * page);
        break;
      default: {
        wire::MoveRecord record;
        record.slot = static_cast<std::uint32_t>(random_() % 100);
        record.address = address;
        writer_.add(record, ++time_);
        break;
      }
    }
  }

  Random random_;
  wire::StreamWriter writer_;
  std::map<std::uint32_t, std::map<std::uint64_t, std::uint64_t>> live_;  // By heap and address: sizes.
  std::int64_t time_ = 0;
  bool has_requests_ = true, has_allocs_ = true, has_frees_ = true;
};

void expect_same(const StreamState& expected, const StreamState& state) {
  ASSERT_EQ(expected.position(), state.position());
  ASSERT_EQ(expected.time_ns(), state.time_ns());
  ASSERT_EQ(expected.slot_count(), state.slot_count());
  ASSERT_EQ(expected.problems().total(), state.problems().total());
  for (std::size_t slot = 0; slot < state.slot_count(); ++slot) {
    const LiveBlock a = expected.slots()[slot], b = state.slots()[slot];
    ASSERT_EQ(a.heap, b.heap) << slot;
    ASSERT_EQ(a.is_vacant, b.is_vacant) << slot;
    if (!a.is_live()) continue;
    ASSERT_EQ(std::tuple(a.event, a.address, a.size, a.requested, a.stream, a.flags),
              std::tuple(b.event, b.address, b.size, b.requested, b.stream, b.flags));
    ASSERT_EQ(expected.heap(a.heap).space.is_loose(a.place), state.heap(a.heap).space.is_loose(b.place));
  }
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const HeapState &a = expected.heap(id), &b = state.heap(id);
    ASSERT_EQ(std::tuple(a.in_use_bytes, a.requested_bytes, a.pending_bytes, a.live_blocks, a.pending_blocks,
                         a.unknown_requests, a.is_inexact),
              std::tuple(b.in_use_bytes, b.requested_bytes, b.pending_bytes, b.live_blocks, b.pending_blocks,
                         b.unknown_requests, b.is_inexact));
    ASSERT_EQ(a.space.largest_free(), b.space.largest_free());
    ASSERT_EQ(a.space.free_bytes(), b.space.free_bytes());
    ASSERT_EQ(a.space.free_chunks(), b.space.free_chunks());
    ASSERT_EQ(a.space.problems(), b.space.problems());
  }
}

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
        // And goes on from there.
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

// Long enough for several keyframes; what is out of order comes in stretches, so that some blocks are plain.
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

// Keyframes lie inside of blocks, where those are plain.
TEST(Seek, moments_beside_keyframes_are_as_event_by_event) {
  constexpr std::uint64_t apart = wire::block_events_max;
  RandomStream made(300);
  made.run(4 * apart + 5000, 0);
  const Stream version = made.stream.version();
  StreamState walked;
  for (std::uint64_t keyframe = apart; keyframe <= 4 * apart; keyframe += apart)
    for (const std::uint64_t at : {keyframe - 1, keyframe, keyframe + 1, keyframe + 2, keyframe + 1500}) {
      version.advance(walked, at);
      StreamState sought = version.state_at(at);
      ASSERT_NO_FATAL_FAILURE(expect_same(walked, sought)) << at;
      StreamState later = walked;
      version.advance(later, at + 3000);
      version.advance(sought, at + 3000);
      ASSERT_NO_FATAL_FAILURE(expect_same(later, sought)) << at;
    }
}

// More than there is room for at a time, before, between and behind the few that lived before; and in a heap where
// nothing did.
TEST(Seek, many_new_blocks_between_old_ones_are_as_event_by_event) {
  Stream stream;
  wire::StreamWriter writer(0,
                            [&](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); });
  constexpr std::uint64_t page = 4096, pages = 10'000;
  wire::HeapRecord heap;
  heap.flags = wire::heap_flag::has_regions;
  std::int64_t time = 0;
  for (int i = 0; i < 2; ++i) {
    wire::RegionGrowRecord region;
    region.heap = writer.define_heap(heap, "heap", "device");
    region.size = page * pages;
    writer.add(region, ++time);
  }
  const auto alloc = [&](std::uint32_t id, std::uint64_t number) {
    wire::AllocRecord block;
    block.address = number * page;
    block.size = page / 2;
    block.heap = id;
    writer.alloc(block, ++time);
  };
  const auto is_old = [](std::uint64_t number) { return number == 3000 || number == 3001 || number == 7000; };
  for (std::uint64_t number = 0; number < pages; ++number)
    if (is_old(number)) alloc(1, number);
  writer.flush();
  const std::uint64_t begin_event = stream.end_position();
  wire::BlockEncoder encoder(0, wire::BlockType::keyframe);
  const Keyframe keyframe = stream.last_state().make_keyframe(encoder);
  std::vector<std::uint64_t> numbers(pages);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::shuffle(numbers.begin(), numbers.end(), Random(5));
  for (const std::uint64_t number : numbers) {
    if (!is_old(number)) alloc(1, number);
    if (number % 2 == 0) alloc(2, number);
    if (number == 7000) writer.free(1, number * page, 0, 0, ++time);
  }
  writer.flush();
  const std::vector<wire::SharedBlock> plain(stream.blocks().begin() + static_cast<std::ptrdiff_t>(keyframe.next_block),
                                             stream.blocks().end());
  StreamState walked;
  for (std::uint64_t end = begin_event; end <= stream.end_position(); end += 1 + end / 7) {
    stream.advance(walked, end);
    ASSERT_NO_FATAL_FAILURE(expect_same(walked, StreamState::from_keyframe(keyframe, stream.definitions(), plain, end)))
        << end;
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

// Before the first keyframe, too: blocks of definitions alone, before, between and behind those with events.
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
