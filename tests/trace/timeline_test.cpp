// A timeline's minima and maxima, compared with those of every single event, and versions of a stream that stay valid.
#include "analysis/trace/timeline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "analysis/trace/stream.h"
#include "collector/wire/stream_writer.h"
#include "tests/trace/random_source.h"

namespace {
thread_local std::uint64_t allocated_bytes = 0;
}

// Counted, so that a version can be held to what it may cost.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  allocated_bytes += bytes;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
// AddressSanitizer's own does not call the one above.
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  allocated_bytes += bytes;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace hbmscope {
namespace {

constexpr std::uint64_t timeline_region_bytes = std::uint64_t{1} << 30;

struct TimelineSource {
  explicit TimelineSource(std::vector<wire::SharedBlock>& blocks)
      : writer(0, [&blocks](wire::SharedBlock block) { blocks.push_back(std::move(block)); }) {
    wire::HeapRecord record;
    record.flags = wire::heap_flag::has_requested | wire::heap_flag::has_regions;
    writer.define_heap(record, "heap", "device");
    wire::RegionLiveRecord region;
    region.size = timeline_region_bytes;
    region.heap = 1;
    writer.add(region, 0);
  }
  void alloc(std::uint64_t page, std::uint64_t bytes) {
    wire::AllocRecord block;
    block.address = page << 20;
    block.size = 4096 * ((bytes + 4095) / 4096);
    block.requested = bytes;
    block.heap = 1;
    writer.alloc(block, ++time);
  }
  void free(std::uint64_t page) { writer.free(1, page << 20, 0, 0, ++time); }

  wire::StreamWriter writer;
  std::int64_t time = 0;
};

Stream read(const std::vector<wire::SharedBlock>& blocks) {
  Stream stream;
  for (const wire::SharedBlock& block : blocks) EXPECT_EQ(std::nullopt, stream.append(block));
  return stream;
}

std::vector<wire::SharedBlock> random_blocks(std::size_t events) {
  std::vector<wire::SharedBlock> blocks;
  TimelineSource source(blocks);
  std::mt19937_64 random(3);
  std::vector<bool> is_live(1000);
  while (source.writer.next_event() < events) {
    const std::uint64_t page = random() % is_live.size();
    is_live[page] ? source.free(page) : source.alloc(page, 1 + random() % (1 << 20));
    is_live[page] = !is_live[page];
  }
  source.writer.flush();
  return blocks;
}

struct Figures {
  std::uint64_t in_use = 0, requested = 0, largest_free = 0;
  double fragmentation = 0;
};

// The figures after each event.
std::vector<Figures> figures_of(const Stream& stream) {
  std::vector<Figures> figures;
  StreamState state;
  for (std::uint64_t position = 0; position <= stream.end_position(); ++position) {
    stream.advance(state, position);
    const HeapState& heap = state.heap(1);
    // Before the first event the region that was there already is not applied.
    const bool is_before_all = position == 0;
    figures.push_back({heap.in_use_bytes, heap.requested_bytes,
                       is_before_all ? timeline_region_bytes : *heap.space.largest_free(),
                       is_before_all ? 0 : external_fragmentation(heap).value()});
  }
  return figures;
}

void expect_extremes(const TimelineBucket& bucket, const std::vector<Figures>& figures) {
  const auto begin = figures.begin() + static_cast<std::ptrdiff_t>(bucket.first_position);
  const auto end = begin + static_cast<std::ptrdiff_t>(bucket.changes);
  const auto extremes = [&](auto member) {
    const auto [least, most] = std::minmax_element(
        begin, end, [&](const Figures& one, const Figures& other) { return one.*member < other.*member; });
    return std::pair{(*least).*member, (*most).*member};
  };
  EXPECT_EQ(extremes(&Figures::in_use), (std::pair{bucket.least.in_use, bucket.most.in_use}));
  EXPECT_EQ(extremes(&Figures::requested), (std::pair{bucket.least.requested, bucket.most.requested}));
  EXPECT_EQ(extremes(&Figures::largest_free), (std::pair{bucket.least.largest_free, bucket.most.largest_free}));
  const auto [least, most] = extremes(&Figures::fragmentation);
  EXPECT_NEAR(least, bucket.least.external_fragmentation, 1e-6);
  EXPECT_NEAR(most, bucket.most.external_fragmentation, 1e-6);
  EXPECT_EQ(std::prev(end)->in_use, bucket.last.in_use);
  EXPECT_EQ(std::prev(end)->requested, bucket.last.requested);
  EXPECT_EQ(timeline_region_bytes, bucket.most.pool);
  EXPECT_TRUE(bucket.knows_requested && bucket.knows_regions && !bucket.is_inexact);
}

TEST(Timeline, buckets_hold_the_extremes_of_their_events) {
  const Stream stream = read(random_blocks(6'000));
  const std::vector<Figures> figures = figures_of(stream);
  const Timeline& timeline = stream.timeline(1);
  ASSERT_EQ(6'001U, timeline.changes());  // The region that was there already is one.
  for (const std::size_t wanted : {1U, 3U, 10U, 70U, 1000U}) {
    for (const auto& [begin, end] : {std::pair{0U, 6'000U}, {1'000U, 4'000U}, {5'990U, 6'000U}, {700U, 701U}}) {
      const std::vector<TimelineBucket> buckets = timeline.buckets(begin, end, wanted);
      ASSERT_FALSE(buckets.empty());
      EXPECT_LE(buckets.front().first_position, begin);
      std::uint64_t next = buckets.front().first_position;
      for (const TimelineBucket& bucket : buckets) {
        ASSERT_EQ(next, bucket.first_position) << "events between two buckets";
        next += bucket.changes;
        expect_extremes(bucket, figures);
      }
      EXPECT_GT(next, end) << "the range is not covered";
    }
  }
}

TEST(Timeline, few_buckets_for_a_far_look) {
  const Stream stream = read(random_blocks(300'000));
  const Timeline& timeline = stream.timeline(1);
  EXPECT_EQ(300'001U, timeline.changes());
  for (const std::size_t wanted : {20U, 100U, 500U}) {
    const std::size_t found = timeline.buckets(0, stream.end_position(), wanted).size();
    EXPECT_GE(found, wanted);
    EXPECT_LE(found, wanted * Timeline::fan + 3 * Timeline::fan);
  }
}

void expect_equal_states(const StreamState& a, const StreamState& b) {
  EXPECT_EQ(a.position(), b.position());
  EXPECT_EQ(a.heap(1).in_use_bytes, b.heap(1).in_use_bytes);
  EXPECT_EQ(a.heap(1).live_blocks, b.heap(1).live_blocks);
  EXPECT_EQ(a.heap(1).space.largest_free(), b.heap(1).space.largest_free());
}

TEST(Version, stays_as_it_was_while_the_stream_grows) {
  const std::vector<wire::SharedBlock> blocks = random_blocks(200'000);
  Stream stream;
  std::vector<Stream> versions;
  for (const wire::SharedBlock& block : blocks) {
    ASSERT_EQ(std::nullopt, stream.append(block));
    versions.push_back(stream.version());
  }
  Stream alone;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    ASSERT_EQ(std::nullopt, alone.append(blocks[i]));
    const Stream& version = versions[i];
    ASSERT_EQ(i + 1, version.blocks().size());
    ASSERT_EQ(alone.end_position(), version.end_position());
    ASSERT_EQ(alone.counts().alloc, version.counts().alloc);
    ASSERT_EQ(alone.timeline(1).changes(), version.timeline(1).changes());
    ASSERT_EQ(alone.peak(1).in_use_bytes, version.peak(1).in_use_bytes);
    ASSERT_EQ(alone.last_time_ns(), version.last_time_ns());
    expect_equal_states(alone.last_state(), version.state_at(version.end_position()));
    expect_equal_states(alone.state_at(alone.end_position() / 2), version.state_at(version.end_position() / 2));
  }
}

TEST(Version, is_read_while_the_stream_grows) {
  const std::vector<wire::SharedBlock> blocks = random_blocks(400'000);
  Stream stream;
  std::vector<std::thread> readers;
  for (const wire::SharedBlock& block : blocks) {
    ASSERT_EQ(std::nullopt, stream.append(block));
    readers.emplace_back([version = std::make_shared<Stream>(stream.version())] {
      const StreamState state = version->state_at(version->end_position());
      const auto buckets = version->timeline(1).buckets(0, version->end_position(), 100);
      EXPECT_EQ(state.heap(1).in_use_bytes, buckets.back().last.in_use);
      EXPECT_EQ("heap", version->definitions().heap(1).name);
    });
  }
  for (std::thread& reader : readers) reader.join();
}

// The same block again, as the next one of its stream; everything allocated in it is also freed.
wire::SharedBlock repeat(const wire::Block& block, const wire::Block& before) {
  auto next = std::make_shared<wire::Block>(block);
  next->header.first_event = before.end_event();
  next->header.sequence = before.header.sequence + 1;
  next->header.first_time_ns = before.header.last_time_ns + 1;
  next->header.last_time_ns = next->header.first_time_ns + (block.header.last_time_ns - block.header.first_time_ns);
  next->header.xxh3 = wire::compute_block_hash(*next);
  return next;
}

TEST(Version, costs_as_much_after_a_hundred_million_events_as_after_the_first_block) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t events = 3'000'000;
#else
  constexpr std::uint64_t events = 100'000'000;
#endif
  std::vector<wire::SharedBlock> blocks;
  TimelineSource source(blocks);
  source.writer.flush();
  for (std::uint64_t i = 0; i < wire::block_events_max / 2; ++i) {
    source.alloc(i % 64, 4096);
    source.free(i % 64);
  }
  source.writer.flush();
  ASSERT_EQ(2U, blocks.size());
  Stream stream = read(blocks);
  const auto cost = [&] {
    const std::uint64_t before = allocated_bytes;
    const Stream version = stream.version();
    return allocated_bytes - before;
  };
  const std::uint64_t at_first = cost();
  for (wire::SharedBlock last = blocks.back(); stream.end_position() < events;) {
    last = repeat(*blocks.back(), *last);
    ASSERT_EQ(std::nullopt, stream.append(last));
  }
  EXPECT_GE(stream.end_position(), events);
  EXPECT_EQ(stream.end_position() + 1, stream.timeline(1).changes());
  EXPECT_LE(cost(), at_first + 512);  // A timeline has some levels more.
  EXPECT_LE(cost(), 4096U);
  std::printf("%.0f M events: a version allocates %llu bytes, after the first block %llu\n",
              static_cast<double>(stream.end_position()) / 1e6, static_cast<unsigned long long>(cost()),
              static_cast<unsigned long long>(at_first));
}

// 1.2 million events of one heap and a few of another, with a pause in the middle.
TEST(Timeline, late_buckets_are_narrow) {
  std::vector<wire::SharedBlock> blocks;
  TimelineSource source(blocks);
  wire::HeapRecord other;
  const std::uint32_t rare = source.writer.define_heap(other, "rare", "device");
  for (int i = 0; i < 600'000; ++i) {
    source.alloc(0, 4096);
    source.free(0);
    if (i == 550'000) source.time += 700'000;
    if (i % 10'000 != 0) continue;
    wire::AllocRecord block;
    block.address = static_cast<std::uint64_t>(i + 1) << 20;
    block.size = 4096;
    block.heap = rare;
    source.writer.alloc(block, ++source.time);
  }
  source.writer.flush();
  const Stream stream = read(blocks);
  std::size_t late = 0;
  for (const std::uint32_t heap : {1U, rare}) {
    for (const TimelineBucket& bucket : stream.timeline(heap).buckets(0, stream.end_position(), 1'000'000)) {
      if (bucket.first_position <= Timeline::narrow_from) {
        ASSERT_LE(bucket.last_position, Timeline::narrow_from) << "none is on both sides";
        continue;
      }
      ++late;
      ASSERT_LE(bucket.last_position - bucket.first_position, bucket.first_position / Timeline::parts);
      ASSERT_LE(bucket.last_time_ns - bucket.first_time_ns, bucket.first_time_ns / Timeline::parts);
    }
  }
  EXPECT_LT(late, 3'000U);
  EXPECT_EQ(10U, stream.timeline(rare).buckets(Timeline::narrow_from, stream.end_position(), 1'000'000).size() - 1)
      << "each of its late events is a bucket";
}

TEST(Timeline, the_place_of_the_most_is_that_of_the_first_such_event) {
  const Stream stream = read(random_blocks(6'000));
  const std::vector<Figures> figures = figures_of(stream);
  for (const std::size_t wanted : {1U, 10U, 1000U})
    for (const TimelineBucket& bucket : stream.timeline(1).buckets(0, 6'000, wanted)) {
      EXPECT_EQ(bucket.most.in_use, figures[bucket.most_position].in_use);
      for (std::uint64_t at = bucket.first_position; at < bucket.most_position; ++at)
        ASSERT_LT(figures[at].in_use, bucket.most.in_use);
    }
}

TEST(UseAtMarks, is_that_before_the_marker_of_every_heap) {
  RandomSource source(7);
  std::vector<std::uint64_t> marks;
  Stream stream;
  std::size_t next = 0;
  for (int i = 0; i < 6000; ++i) {
    source.step();
    if (source.pick(20) == 0) {
      wire::MarkerRecord mark;
      mark.name = source.writer.define_string("step");
      marks.push_back(source.writer.next_event());
      source.writer.add(mark, ++source.time_ns);
    }
    if (source.pick(150) == 0) source.writer.flush();
  }
  source.writer.flush();
  for (; next < source.blocks.size(); ++next) ASSERT_EQ(std::nullopt, stream.append(source.blocks[next]));
  const Stream version = stream.version();
  std::size_t above_zero = 0;
  for (const std::uint64_t mark : marks) {
    const StreamState state = stream.state_at(mark);
    for (std::uint32_t heap = 1; heap < stream.definitions().heaps().size(); ++heap) {
      ASSERT_EQ(state.in_use_bytes(heap), version.in_use_at_mark(heap, mark)) << mark << ", heap " << heap;
      above_zero += state.in_use_bytes(heap) > 0;
    }
  }
  EXPECT_GT(above_zero, 300U);
}

}  // namespace
}  // namespace hbmscope
