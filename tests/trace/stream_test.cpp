// A stream's state at any position, compared with a naive one, on seeded random streams: several heaps with and without
// regions, pending frees, moves, unknown frees, listings, losses.
#include "analysis/trace/stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "collector/wire/stream_writer.h"
#include "tests/trace/random_source.h"
#include "tests/trace/restored.h"

namespace hbmscope {
namespace {

using Random = std::mt19937_64;

struct NaiveHeap {
  std::map<std::uint64_t, std::uint64_t> blocks, requested;  // By address: size and requested size.
  std::map<std::uint64_t, bool> pending;
  std::uint64_t pool_bytes = 0, in_use_bytes = 0;
};

struct Moment {
  std::vector<NaiveHeap> heaps;
  std::vector<std::uint64_t> peaks;  // Bytes in use so far.
};

constexpr std::uint64_t region_bytes = 1 << 20, regions_of_heap = 4;

// Writes a random stream and remembers its state after every event, or after each `stride`th.
class StreamScenario {
 public:
  explicit StreamScenario(unsigned seed, std::uint64_t stride = 1)
      : random_(seed), stride_(stride), writer_(0, [this](const wire::SharedBlock& block) { take(block); }) {
    for (std::uint32_t heap = 1; heap <= 2; ++heap) {
      wire::HeapRecord record;
      record.flags = wire::heap_flag::has_requested | (heap == 1 ? wire::heap_flag::has_regions : 0);
      writer_.define_heap(record, "heap " + std::to_string(heap), "device");
    }
    now_.heaps.resize(3);
    now_.peaks.resize(3);
    moments_[0] = now_;
  }

  void run(std::size_t events) {
    for (std::uint64_t i = 0; i < regions_of_heap; ++i) grow(i);
    while (writer_.next_event() < events) step();
    writer_.flush();
  }

  Stream stream;
  const Moment& moment(std::uint64_t position) const { return moments_.at(position); }
  const Moment& last_moment() const { return now_; }
  std::uint64_t unknown_frees() const { return unknown_frees_; }

 private:
  void take(const wire::SharedBlock& block) { ASSERT_EQ(std::nullopt, stream.append(block)); }

  void note() {
    for (std::size_t heap = 1; heap < 3; ++heap)
      now_.peaks[heap] = std::max(now_.peaks[heap], now_.heaps[heap].in_use_bytes);
    if (writer_.next_event() % stride_ == 0) moments_[writer_.next_event()] = now_;
    if (random_() % 50 == 0) writer_.flush();  // Blocks of all lengths.
    writer_.define_string("text " + std::to_string(random_() % 100));
  }

  void grow(std::uint64_t number) {
    wire::RegionGrowRecord record;
    record.address = (number + 1) * 2 * region_bytes;
    record.size = region_bytes;
    record.heap = 1;
    writer_.add(record, ++time_);
    now_.heaps[1].pool_bytes += region_bytes;
    note();
  }

  void step() {
    const std::uint32_t heap = 1 + static_cast<std::uint32_t>(random_() % 2);
    NaiveHeap& naive = now_.heaps[heap];
    const std::uint64_t address = (random_() % regions_of_heap + 1) * 2 * region_bytes + random_() % 256 * 4096;
    const auto found = naive.blocks.find(address);
    if (found == naive.blocks.end()) return random_() % 40 == 0 ? free_unknown(heap, address) : alloc(heap, address);
    if (random_() % 4 == 0 && !naive.pending[address]) {
      EXPECT_TRUE(writer_.free_requested(heap, address, 0, 0, ++time_));
      naive.pending[address] = true;
    } else {
      EXPECT_TRUE(writer_.free(heap, address, 0, 0, ++time_));
      naive.in_use_bytes -= found->second;
      naive.blocks.erase(found);
      naive.requested.erase(address);
      naive.pending.erase(address);
    }
    note();
  }

  void alloc(std::uint32_t heap, std::uint64_t address) {
    NaiveHeap& naive = now_.heaps[heap];
    // Up to the next block or the region's end, so that nothing overlaps.
    const auto next = naive.blocks.upper_bound(address);
    std::uint64_t end = address / region_bytes * region_bytes + region_bytes;
    if (next != naive.blocks.end()) end = std::min(end, next->first);
    const auto before = next == naive.blocks.begin() ? naive.blocks.end() : std::prev(next);
    if (before != naive.blocks.end() && before->first + before->second > address) return;
    wire::AllocRecord record;
    record.address = address;
    record.size = std::min<std::uint64_t>(end - address, (1 + random_() % 16) * 4096);
    record.requested = record.size - random_() % 4096;
    record.heap = heap;
    writer_.alloc(record, ++time_);
    naive.blocks[address] = record.size;
    naive.in_use_bytes += record.size;
    naive.requested[address] = record.requested;
    note();
  }

  void free_unknown(std::uint32_t heap, std::uint64_t address) {
    EXPECT_FALSE(writer_.free(heap, address, 0, 0, ++time_));
    ++unknown_frees_;
    note();
  }

  Random random_;
  std::uint64_t stride_;
  wire::StreamWriter writer_;
  Moment now_;
  std::map<std::uint64_t, Moment> moments_;  // By position.
  std::int64_t time_ = 1000;
  std::uint64_t unknown_frees_ = 0;
};

void expect_heap(const NaiveHeap& naive, const HeapState& heap, bool has_regions) {
  std::uint64_t in_use = 0, requested = 0, pending = 0;
  for (const auto& [address, size] : naive.blocks) {
    in_use += size;
    requested += naive.requested.at(address);
    const auto found = naive.pending.find(address);
    if (found != naive.pending.end() && found->second) pending += size;
  }
  ASSERT_EQ(in_use, heap.in_use_bytes);
  ASSERT_EQ(naive.blocks.size(), heap.live_blocks);
  ASSERT_EQ(pending, heap.pending_bytes);
  ASSERT_EQ(std::optional(requested), heap.known_requested_bytes());
  ASSERT_EQ(has_regions, heap.space.free_bytes().has_value());
  if (!has_regions) return;
  // Gaps, region by region, as anybody would find them.
  std::uint64_t free = 0, largest = 0;
  for (std::uint64_t begin = 2 * region_bytes; begin < 2 * region_bytes + naive.pool_bytes * 2;
       begin += 2 * region_bytes) {
    std::uint64_t at = begin;
    const auto gap = [&](std::uint64_t end) {
      free += end - at;
      largest = std::max(largest, end - at);
    };
    for (auto block = naive.blocks.lower_bound(begin);
         block != naive.blocks.end() && block->first < begin + region_bytes; ++block) {
      gap(block->first);
      at = block->first + block->second;
    }
    gap(begin + region_bytes);
  }
  ASSERT_EQ(naive.pool_bytes, heap.space.region_bytes());
  ASSERT_EQ(free, heap.space.free_bytes());
  ASSERT_EQ(largest, heap.space.largest_free());
}

TEST(Stream, every_moment_is_what_a_naive_model_says) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    StreamScenario scenario(seed);
    scenario.run(1500);
    const Stream& stream = scenario.stream;
    Random random(seed);
    StreamState walked;
    for (std::uint64_t position = 0; position <= stream.end_position(); position += 1 + random() % 97) {
      const Moment& moment = scenario.moment(position);
      const StreamState state = stream.state_at(position);
      stream.advance(walked, position);
      ASSERT_EQ(position, state.position());
      for (std::uint32_t heap = 1; heap < 3; ++heap) {
        expect_heap(moment.heaps[heap], state.heap(heap), heap == 1);
        expect_heap(moment.heaps[heap], walked.heap(heap), heap == 1);
      }
      // From a keyframe at any position, the rest of the stream ends in the same state.
      StreamState again = restored(state, stream.definitions());
      for (std::uint32_t heap = 1; heap < 3; ++heap) expect_heap(moment.heaps[heap], again.heap(heap), heap == 1);
      stream.advance(again, stream.end_position());
      for (std::uint32_t heap = 1; heap < 3; ++heap)
        expect_heap(scenario.last_moment().heaps[heap], again.heap(heap), heap == 1);
      ASSERT_EQ(stream.last_state().problems().unknown_frees, again.problems().unknown_frees);
    }
    for (std::uint32_t heap = 1; heap < 3; ++heap)
      ASSERT_EQ(scenario.last_moment().peaks[heap], stream.peak(heap).in_use_bytes);
    ASSERT_EQ(scenario.unknown_frees(), stream.last_state().problems().unknown_frees);
    ASSERT_EQ(0U, stream.last_state().problems().bad_slots);
  }
}

TEST(Stream, keyframes_answer_as_the_whole_way_does) {
  StreamScenario scenario(99, 1000);
  scenario.run(200'000);
  const Stream& stream = scenario.stream;
  for (const std::uint64_t position : {1000U, 70'000U, 131'000U, 150'000U, 199'000U})
    expect_heap(scenario.moment(position).heaps[1], stream.state_at(position).heap(1), true);
}

// Overlapping blocks, blocks outside regions, regions removed under live blocks: after a keyframe everything continues
// as before.
TEST(Stream, keyframes_of_dirty_streams_go_on_as_the_stream_did) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    Random random(seed);
    Stream stream;
    wire::StreamWriter writer(
        0, [&](wire::SharedBlock block) { ASSERT_EQ(std::nullopt, stream.append(std::move(block))); });
    wire::HeapRecord record;
    record.flags = wire::heap_flag::has_regions;
    const std::uint32_t heap = writer.define_heap(record, "pool", "device");
    std::vector<std::uint64_t> live;
    for (std::int64_t time = 0; time < 800; ++time) {
      const std::uint64_t address = random() % 64 * 1024, size = (1 + random() % 8) * 1024;
      if (random() % 20 == 0) {
        wire::RegionGrowRecord region;
        region.address = address;
        region.size = size * 4;
        region.heap = heap;
        region.flags = random() % 2 == 0 ? wire::region_flag::joins_neighbours : 0;
        writer.add(region, time);
      } else if (random() % 30 == 0) {
        wire::RegionShrinkRecord region;
        region.address = address;
        region.size = size;
        region.heap = heap;
        writer.add(region, time);
      } else if (!live.empty() && random() % 2 == 0) {
        std::swap(live[random() % live.size()], live.back());
        writer.free(heap, live.back(), 0, 0, time);
        live.pop_back();
      } else if (std::find(live.begin(), live.end(), address) == live.end()) {
        wire::AllocRecord block;
        block.address = address;
        block.size = size;
        block.heap = heap;
        writer.alloc(block, time);
        live.push_back(address);
      }
    }
    writer.flush();
    for (std::uint64_t from = 0; from < stream.end_position(); from += 37) {
      StreamState state = stream.state_at(from);
      StreamState again = restored(state, stream.definitions());
      for (std::uint64_t position = from; position <= stream.end_position(); position += 11) {
        stream.advance(state, position);
        stream.advance(again, position);
        ASSERT_EQ(state.heap(heap).in_use_bytes, again.heap(heap).in_use_bytes) << seed;
        ASSERT_EQ(state.heap(heap).space.free_bytes(), again.heap(heap).space.free_bytes()) << seed;
        ASSERT_EQ(state.heap(heap).space.largest_free(), again.heap(heap).space.largest_free()) << seed;
        ASSERT_EQ(state.heap(heap).space.problems(), again.heap(heap).space.problems()) << seed;
      }
    }
  }
}

TEST(Stream, a_block_over_a_live_one_was_freed_unseen) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::AllocRecord block;
  block.heap = writer.define_heap({}, "pool", "device");
  block.address = 4096;
  block.size = 512;
  writer.alloc(block, 1);
  block.size = 1024;
  writer.alloc(block, 2);
  writer.flush();
  EXPECT_EQ(1U, writer.missed_frees());
  EXPECT_EQ(1024U, stream.last_state().heap(1).in_use_bytes);
  EXPECT_EQ(1U, stream.last_state().heap(1).live_blocks);
  // The source recorded two events, and none of them is the free.
  EXPECT_EQ(2U, stream.counts().total);
  EXPECT_EQ(2U, stream.counts().alloc);
  EXPECT_EQ(0U, stream.counts().free);
  EXPECT_EQ(3U, stream.end_position());
}

// A source without times gives them all the time 0.
TEST(Stream, has_times_with_a_single_event_and_with_a_clock_that_steps_back) {
  const auto has_times = [](const std::vector<std::int64_t>& times) {
    Stream stream;
    wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
    wire::AllocRecord block;
    block.heap = writer.define_heap({}, "pool", "device");
    for (const std::int64_t time : times) {
      block.address += 4096;
      writer.alloc(block, time);
    }
    writer.flush();
    return stream.version().has_times();
  };
  EXPECT_TRUE(has_times({20'000}));
  EXPECT_TRUE(has_times({20'000, 20'000}));
  EXPECT_TRUE(has_times({20'000, 5'000}));
  EXPECT_TRUE(has_times({0, 1}));
  EXPECT_FALSE(has_times({0, 0}));
  EXPECT_FALSE(has_times({}));
}

TEST(Stream, positions_of_times) {
  StreamScenario scenario(3);
  scenario.run(500);
  const Stream& stream = scenario.stream;
  EXPECT_EQ(0U, stream.position_of_time(0));
  EXPECT_EQ(1U, stream.position_of_time(1001));
  EXPECT_EQ(250U, stream.position_of_time(1250));
  EXPECT_EQ(stream.end_position(), stream.position_of_time(1'000'000));
}

TEST(Stream, a_loss_makes_heaps_inexact_until_they_are_listed) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "pool", "device");
  wire::AllocRecord block;
  block.address = 4096;
  block.size = 512;
  block.heap = heap;
  writer.alloc(block, 1);
  wire::LossRecord loss;
  loss.count = 12;
  writer.add(loss, 2);
  writer.flush();
  EXPECT_TRUE(stream.last_state().heap(heap).is_inexact);
  EXPECT_EQ(12U, stream.counts().lost);
  wire::ListingRecord listing;
  listing.heap = heap;
  writer.add(listing, 3);
  wire::LiveRecord live;
  live.address = 8192;
  live.size = 1024;
  live.heap = heap;
  writer.live(live);
  listing.phase = 1;
  writer.add(listing, 3);
  writer.flush();
  EXPECT_FALSE(stream.last_state().heap(heap).is_inexact);
  EXPECT_EQ(1024U, stream.last_state().heap(heap).in_use_bytes);
  EXPECT_EQ(1U, stream.last_state().heap(heap).live_blocks);
}

TEST(Stream, a_peak_between_a_loss_and_the_next_listing_is_no_peak) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::AllocRecord block;
  block.heap = writer.define_heap({}, "pool", "device");
  const auto take = [&](std::uint64_t address, std::uint64_t size, std::int64_t time_ns) {
    block.address = address;
    block.size = size;
    writer.alloc(block, time_ns);
  };
  const auto lose = [&](std::uint64_t since_ns, std::int64_t time_ns) {
    wire::LossRecord loss;
    loss.since_ns = since_ns;
    writer.add(loss, time_ns);
  };
  take(4096, 100, 10);
  lose(15, 20);
  take(8192, 5000, 21);  // Blocks freed meanwhile are unknown.
  writer.flush();
  EXPECT_TRUE(stream.last_state().is_inexact(1));
  EXPECT_EQ(stream.last_state().inexact_since_ns(1), 15);
  EXPECT_EQ(stream.peak(1).in_use_bytes, 5100U);
  EXPECT_TRUE(stream.peak(1).is_inexact);
  EXPECT_TRUE(stream.version().peak(1).is_inexact);
  wire::ListingRecord listing;
  listing.heap = 1;
  writer.add(listing, 30);
  wire::LiveRecord live;
  live.address = 8192;
  live.size = 300;
  live.heap = 1;
  writer.live(live);
  listing.phase = 1;
  writer.add(listing, 30);
  writer.flush();
  EXPECT_FALSE(stream.last_state().is_inexact(1));
  for (const HeapPeak& peak : {stream.peak(1), stream.version().peak(1)}) {
    EXPECT_EQ(peak.in_use_bytes, 300U);
    EXPECT_FALSE(peak.is_inexact);
  }
  lose(0, 40);
  writer.flush();
  EXPECT_EQ(stream.peak(1).in_use_bytes, 300U) << "nothing is above it since the loss";
  EXPECT_EQ(stream.version().peak(1).in_use_bytes, 300U);
  take(16384, 50, 50);
  lose(0, 60);
  writer.flush();
  EXPECT_EQ(stream.last_state().inexact_since_ns(1), 30) << "at the last event, and not at the second loss";
  EXPECT_EQ(stream.peak(1).in_use_bytes, 350U) << "of this stretch, not of the one before";
  EXPECT_EQ(stream.state_at(stream.end_position()).inexact_since_ns(1), 30);
}

TEST(Stream, a_loss_before_a_heap_was_there_is_none_of_it_from_wherever_it_is_replayed) {
  Stream stream;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { stream.append(std::move(block)); });
  wire::AllocRecord block;
  block.size = 512;
  block.heap = writer.define_heap({}, "old", "device");
  block.address = 4096;
  writer.alloc(block, 1);
  wire::LossRecord loss;
  writer.add(loss, 2);
  writer.flush();
  block.heap = writer.define_heap({}, "late", "device");
  writer.alloc(block, 3);
  block.address = 8192;
  writer.alloc(block, 4);
  writer.flush();
  for (std::uint64_t position = 0; position <= stream.end_position(); ++position) {
    StreamState state = stream.state_at(position);
    EXPECT_EQ(position >= 2, state.heap(1).is_inexact) << position;
    EXPECT_FALSE(state.heap(2).is_inexact) << position;
    stream.advance(state, stream.end_position());
    EXPECT_FALSE(state.heap(2).is_inexact) << position;
  }
  writer.add(loss, 5);
  writer.flush();
  EXPECT_TRUE(stream.last_state().heap(2).is_inexact);
  EXPECT_TRUE(stream.state_at(stream.end_position() - 1).heap(1).is_inexact);
}

TEST(Stream, a_missing_block_is_counted_and_said) {
  std::vector<wire::SharedBlock> blocks;
  wire::StreamWriter writer(0, [&](wire::SharedBlock block) { blocks.push_back(std::move(block)); });
  const std::uint32_t heap = writer.define_heap({}, "pool", "device");
  for (int part = 0; part < 3; ++part) {
    for (int i = 0; i < 10; ++i) {
      wire::AllocRecord block;
      block.address = static_cast<std::uint64_t>(part * 10 + i + 1) * 4096;
      block.size = 512;
      block.heap = heap;
      writer.alloc(block, part);
    }
    writer.flush();
  }
  Stream stream;
  EXPECT_EQ(std::nullopt, stream.append(blocks[0]));
  EXPECT_EQ(std::nullopt, stream.append(blocks[2]));
  EXPECT_EQ(10U, stream.counts().lost);
  EXPECT_EQ(30U, stream.end_position());
  EXPECT_TRUE(stream.last_state().heap(heap).is_inexact);
  EXPECT_NE(std::nullopt, stream.append(blocks[1])) << "too late";
}

// All but the free memory is as in a state that follows regions.
TEST(StreamState, forgets_regions_and_nothing_else) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    RandomSource source(seed);
    for (int i = 0; i < 3000; ++i) {
      source.step();
      if (source.pick(100) == 0) source.writer.flush();
    }
    source.writer.flush();
    Stream stream;
    for (const wire::SharedBlock& block : source.blocks) ASSERT_EQ(std::nullopt, stream.append(block));
    StreamState forgetful = stream.state_at(stream.end_position() / 3);
    forgetful.forget_regions();
    for (std::uint64_t position = stream.end_position() / 3; position <= stream.end_position(); position += 97) {
      stream.advance(forgetful, position);
      const StreamState whole = stream.state_at(position);
      ASSERT_EQ(whole.slot_count(), forgetful.slot_count());
      for (std::size_t slot = 0; slot < whole.slot_count(); ++slot) {
        const LiveBlock a = whole.slots()[slot], b = forgetful.slots()[slot];
        ASSERT_EQ(std::tuple(a.heap, a.event, a.address, a.size, a.requested, a.stack, a.flags),
                  std::tuple(b.heap, b.event, b.address, b.size, b.requested, b.stack, b.flags));
      }
      for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap) {
        ASSERT_EQ(whole.in_use_bytes(heap), forgetful.in_use_bytes(heap));
        ASSERT_EQ(whole.heap(heap).pending_bytes, forgetful.heap(heap).pending_bytes);
        ASSERT_FALSE(forgetful.heap(heap).space.free_bytes());
      }
    }
  }
}

}  // namespace
}  // namespace hbmscope
